package agent

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"log"
	"os"
	"strings"
)

// An Identity is who the client is, as its environment says it (clients.py).
type Identity struct {
	// TLS is nil for a listener without it.
	TLS *tls.Config
	// User logs in by SCRAM-SHA-512; empty for who has a certificate or is nobody.
	User, Password string
}

// Who reads the environment; what is wrong with it ends the process.
func Who() Identity {
	authority := os.Getenv("CLIENT_CA")
	if authority == "" {
		return Identity{}
	}
	text, err := os.ReadFile(authority)
	if err != nil {
		log.Fatal(err)
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	if !config.RootCAs.AppendCertsFromPEM(text) {
		log.Fatal("no certificate in ", authority)
	}
	if own := os.Getenv("CLIENT_CERTIFICATE"); own != "" {
		pair, err := tls.LoadX509KeyPair(own, own)
		if err != nil {
			log.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return Identity{TLS: config, User: os.Getenv("CLIENT_USER"), Password: os.Getenv("CLIENT_PASSWORD")}
}

// Settings are the lines name=value of the file for clients on librdkafka; none without a file.
func Settings() map[string]string {
	settings := map[string]string{}
	name := os.Getenv("CLIENT_LIBRDKAFKA")
	if name == "" {
		return settings
	}
	file, err := os.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if key, value, found := strings.Cut(lines.Text(), "="); found {
			settings[key] = value
		}
	}
	return settings
}

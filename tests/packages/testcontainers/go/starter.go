// Starts the container by the library, says where it is, and stops it when standard input ends.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/modules/kafka"
)

func main() {
	ctx := context.Background()
	container, err := kafka.Run(ctx, "partita:8.0.0", kafka.WithClusterID("MkU3OEVBNTcwNTJENDM2Qk"))
	if err != nil {
		log.Fatal(err)
	}
	brokers, err := container.Brokers(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("READY", brokers[0])
	io.ReadAll(os.Stdin)
	if err := testcontainers.TerminateContainer(container); err != nil {
		log.Fatal(err)
	}
}

module partita.test/starter

go 1.24.0

require github.com/testcontainers/testcontainers-go/modules/kafka v0.40.0

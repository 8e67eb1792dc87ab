module github.com/estuary/connectors

go 1.26

// Package postgres holds source-postgres, as a built binary over pipes, against real servers: what it prints must add up to the tables whatever is done
// to tables, slots, publications, connections and servers while it runs or between two runs.
package postgres

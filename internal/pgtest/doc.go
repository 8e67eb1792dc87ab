// Package pgtest starts private PostgreSQL servers for tests: own data directory, own free port, gone when the test is.
//
// A package of tests shares one cluster per version:
//
//	var servers pgtest.Shared
//
//	func TestMain(m *testing.M) { servers.Run(m) }
//
//	func TestSomething(t *testing.T) {
//		cluster := servers.Cluster(t, 15)
//		conn, err := pgx.Connect(ctx, cluster.DSN(cluster.NewDatabase(t)))
//
// Tests that restart the server or change its configuration start their own with Start.
//
// A missing server fails the test and names the cure, make setup. Nothing is ever skipped.
package pgtest

package postgres

import "testing"

func partitioned(t *testing.T) *database {
	t.Helper()
	return newDatabase(t, "CREATE TABLE p (id int, region text, v int, PRIMARY KEY (id, region)) PARTITION BY LIST (region)",
		"CREATE TABLE p_east PARTITION OF p FOR VALUES IN ('east')", "CREATE TABLE p_west PARTITION OF p FOR VALUES IN ('west')",
		"INSERT INTO p SELECT i, CASE WHEN i % 2 = 0 THEN 'east' ELSE 'west' END, 0 FROM generate_series(1, 10) i")
}

// bug sql-cdc 51: estuary/connectors history: without publish_via_partition_root changes came under the partitions' names.
func TestPartitions_RowsThatMoveBetweenThem(t *testing.T) {
	d := partitioned(t)
	p := table("p", "id", "region")
	c := d.capture(p)
	c.catchUp()
	d.exec("UPDATE p SET region = 'west', v = 1 WHERE id IN (2, 4)", "UPDATE p SET v = 2 WHERE id = 6", "DELETE FROM p WHERE id = 1")
	r := c.catchUp()
	c.equal(p)
	if n := r.count(func(rec record) bool { return rec.snapshot || rec.stream != p.Stream }); n != 0 {
		t.Errorf("%d records are no changes of the table", n)
	}
}

func TestPartitions_OneThatIsAttachedWithRowsIsRead(t *testing.T) {
	d := partitioned(t)
	p := table("p", "id", "region")
	c := d.capture(p)
	c.catchUp()
	d.exec("CREATE TABLE p_north (LIKE p INCLUDING ALL)", "INSERT INTO p_north VALUES (100, 'north', 1), (101, 'north', 1)",
		"ALTER TABLE p ATTACH PARTITION p_north FOR VALUES IN ('north')")
	r := c.catchUp()
	c.equal(p)
	if !r.logged("WARN", "its partitions changed") {
		t.Errorf("the run does not say why it reads the table anew:\n%s", r.said())
	}
	d.exec("UPDATE p SET v = 5 WHERE id = 100")
	c.catchUp()
	c.equal(p)
}

func TestPartitions_OneThatIsDetachedResetsTheTable(t *testing.T) {
	d := partitioned(t)
	p := table("p", "id", "region")
	c := d.capture(p)
	c.catchUp()
	d.exec("ALTER TABLE p DETACH PARTITION p_east", "INSERT INTO p_east VALUES (50, 'east', 9)", "INSERT INTO p VALUES (51, 'west', 9)")
	r := c.catchUp()
	if !r.logged("WARN", "remain downstream", "its partitions changed") {
		t.Errorf("the run does not say that rows remain downstream:\n%s", r.said())
	}
	if n := r.count(func(rec record) bool { return rec.text("region") == "east" }); n != 0 {
		t.Errorf("%d records are of the detached partition", n)
	}
	if n := r.count(func(rec record) bool { return rec.snapshot }); n != 6 {
		t.Errorf("%d rows were read anew, want the 6 that are left", n)
	}
}

// The log has no word of a partition's TRUNCATE; what comes after must.
func TestPartitions_OneThatIsTruncatedDoesNotStopTheCapture(t *testing.T) {
	d := partitioned(t)
	p := table("p", "id", "region")
	c := d.capture(p)
	r := c.tail()
	r.awaitActive(p.Stream)
	d.exec("TRUNCATE p_east", "INSERT INTO p SELECT i, 'east', 3 FROM generate_series(2, 10, 2) i")
	r.awaitRecord("the last row", func(rec record) bool { return rec.text("id") == "10" && rec.text("v") == "3" })
	r.stop()
	c.equal(p)
}

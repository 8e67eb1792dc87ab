package pipeline

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/testsupport/binary"
)

// newExample copies the example of the bike share, and gives it a database.
func newExample(t *testing.T) *rig {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples")); err != nil {
		t.Fatal(err)
	}
	c := servers.Cluster(t, 15)
	r := &rig{t: t, cluster: c, program: binary.Build(t, "pipeline"), path: filepath.Join(dir, "bike-share.yaml"), sink: c.NewDatabase(t)}
	r.right = r.connect(r.sink)
	text, err := os.ReadFile(r.path)
	if err != nil {
		t.Fatal(err)
	}
	sink := Materialize(c, "", r.sink)
	changed := strings.NewReplacer(
		"connector: source-s3", "connector: "+binary.Build(t, "source-s3"), "connector: materialize-postgres", "connector: "+binary.Build(t, "materialize-postgres"),
		"${env:PWD}/examples", dir, "localhost:5433", fmt.Sprint(sink["address"]), "user: flow_materialize", "user: "+fmt.Sprint(sink["user"]),
		"${env:LAKE_PASSWORD}", fmt.Sprint(sink["password"]), "database: lake", "database: "+r.sink,
	).Replace(string(text))
	if err := os.WriteFile(r.path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

const rides = `SELECT string_agg(concat_ws(' ', split_part("_meta/file", '/', 2), "_meta/offset", bike_id, duration, started_at, start_station_id, start_station, end_station,
	coalesce(member_casual, '-')), E'\n'
	ORDER BY "_meta/file", "_meta/offset") FROM rides`

// The example as it is: columns that were renamed meet in one table, typed as the schema says. Then files are changed as people change them.
func TestFiles_BikeShare(t *testing.T) {
	t.Parallel()
	r := newExample(t)
	r.once()
	const want = `2013-07.csv 0 16950 634 2013-07-01 00:00:00 164 E 47 St & 2 Ave 1 Ave & E 15 St Customer
2013-07.csv 1 19816 1547 2013-07-01 00:00:02 388 W 26 St & 10 Ave W 20 St & 11 Ave Customer
2013-07.csv 2 14548 178 2013-07-01 00:01:04 293 Lafayette St & E 8 St E 11 St & 2 Ave Subscriber
2016-10.csv 0 25254 328 2016-10-01 00:00:07 471 Grand St & Havemeyer St Stagg St & Union Ave Subscriber
2016-10.csv 1 17810 398 2016-10-01 00:00:11 3147 E 85 St & 3 Ave 1 Ave & E 78 St Subscriber
2016-10.csv 2 20940 430 2016-10-01 00:00:14 345 W 13 St & 6 Ave -
2021-02.csv 0 2021-02-01 00:04:23 4683 Emerson Pl & "Myrtle" Ave E 89 St & York Ave member
2021-02.csv 1 2021-02-01 00:09:06 Café Ave E 15 St & 3 Ave casual`
	if got := one(t, r.right, rides); got != want {
		t.Errorf("the table holds\n%s\nwant\n%s", got, want)
	}
	if got := one(t, r.right, "SELECT string_agg(DISTINCT pg_typeof(bike_id) || ' ' || pg_typeof(duration), ',') FROM rides"); got != "bigint bigint" {
		t.Errorf("the types are %s, want bigint", got)
	}

	// A second run has nothing to do.
	data := filepath.Join(filepath.Dir(r.path), "bike-share")
	first := r.state().Checkpoint.Txn
	r.once()
	if got := one(t, r.right, rides); got != want || r.state().Checkpoint.Txn > first+1 {
		t.Errorf("a second run changed the table:\n%s", got)
	}

	// One file added by cp -p with a year-old time, one replaced by a shorter one, one moved in.
	elsewhere := t.TempDir()
	old := filepath.Join(elsewhere, "old.csv")
	for path, text := range map[string]string{old: "Bike ID,Start Time\n1,x\n", filepath.Join(elsewhere, "moved.csv"): "Bike ID,Start Time\n2,y\n", filepath.Join(elsewhere, "short.csv"): "bikeid,starttime\n3,z\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	year := time.Now().AddDate(-1, 0, 0)
	if err := os.Chtimes(old, year, year); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "cp", "-p", old, filepath.Join(data, "2014-01.csv")).CombinedOutput(); err != nil { //nolint:gosec // paths of this test
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Rename(filepath.Join(elsewhere, "short.csv"), filepath.Join(data, "2016-10.csv")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(elsewhere, "moved.csv"), filepath.Join(data, "2015-01.csv")); err != nil {
		t.Fatal(err)
	}
	before := one(t, r.right, `SELECT DISTINCT _meta->>'version' FROM rides WHERE "_meta/file" LIKE '%2016-10.csv'`)
	r.once()
	const changed = `SELECT string_agg(concat_ws(' ', split_part("_meta/file", '/', 2), "_meta/offset", bike_id, started_at), ', ' ORDER BY "_meta/file", "_meta/offset") FROM rides
		WHERE _meta->>'version' NOT IN (SELECT _meta->>'version' FROM rides WHERE "_meta/file" LIKE '%2013-07.csv' OR "_meta/file" LIKE '%2021-02.csv') AND _meta->>'version' <> `
	if got, want := one(t, r.right, changed+"'"+before+"'"), "2014-01.csv 0 1 x, 2015-01.csv 0 2 y, 2016-10.csv 0 3 z"; got != want {
		t.Errorf("after three changes %q has come, want %q", got, want)
	}
	if n := one(t, r.right, "SELECT count(*)::text FROM rides"); n != "10" {
		t.Errorf("%s rows, want 10: a shorter file leaves the last rows of the one before", n)
	}
}

package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/linkedin/goavro/v2"
)

// The files hold the same rows in every format.
func TestFixture_SameRowsInEveryFormat(t *testing.T) {
	f := &files{dir: t.TempDir(), rows: 100}
	var text, lines, container bytes.Buffer
	for _, err := range []error{f.writeCSV(&text), writeNDJSON(&lines, f.rows), writeAvro(&container, f.rows)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	rows, err := csv.NewReader(&text).ReadAll()
	if err != nil || len(rows) != 101 || len(rows[0]) != 15 || strings.Join(rows[0], ",")+"\n" != tripHeader {
		t.Fatalf("CSV: %d rows, %v", len(rows), err)
	}
	records, err := goavro.NewOCFReader(&container)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(&lines)
	for n := range f.rows {
		var got trip
		if err := decoder.Decode(&got); err != nil || got != tripOf(n) {
			t.Fatalf("NDJSON, row %d: %+v, %v", n, got, err)
		}
		row := rows[n+1]
		if row[0] != strconv.FormatInt(n, 10) || row[1] != got.Station || row[3] != got.Comment || row[9] != got.Price || row[14] != got.Zone {
			t.Fatalf("CSV, row %d: %q", n, row)
		}
		if !records.Scan() {
			t.Fatalf("Avro, row %d: %v", n, records.Err())
		}
		record, err := records.Read()
		if err != nil || record.(map[string]any)["comment"] != got.Comment { //nolint:forcetypeassert // it is a record
			t.Fatalf("Avro, row %d: %v, %v", n, record, err)
		}
	}
	if records.Scan() || decoder.More() {
		t.Error("there are more rows")
	}
}

func TestTexts_OfTypedAndUntypedValuesAreEqual(t *testing.T) {
	typed, err := texts([]byte(`{"a":1.50,"b":true,"c":"x\"y"}`))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := texts([]byte(`{"a":"1.50","b":"true","c":"x\"y"}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range plain {
		if typed[name] != value {
			t.Errorf("%s: %q and %q", name, typed[name], value)
		}
	}
	if other, err := texts([]byte(`{"a":1.5}`)); err != nil || other["a"] == plain["a"] {
		t.Errorf("1.5 is %q, %v", other["a"], err)
	}
}

func TestLoops_ReadWholeFilesAndRefuseBrokenOnes(t *testing.T) {
	file := func(name string, content []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if err := validLoop([]string{file("good", []byte("{\"a\":1}\n{}\n"))}); err != nil {
		t.Error(err)
	}
	if err := validLoop([]string{file("bad", []byte("{\"a\":1}\n{\"a\"}\n"))}); err == nil {
		t.Error("a broken line is valid")
	}
	var container, out bytes.Buffer
	if err := writeAvro(&container, 700); err != nil {
		t.Fatal(err)
	}
	if err := avroLoop([]string{file("good", container.Bytes())}, &out); err != nil || bytes.Count(out.Bytes(), newline) != 700 {
		t.Errorf("%d lines, %v", bytes.Count(out.Bytes(), newline), err)
	}
	if err := avroLoop([]string{file("bad", container.Bytes()[:container.Len()/2])}, &out); err == nil {
		t.Error("half a container is whole")
	}
	for name, is := range map[string]bool{validLoopCommand: true, avroLoopCommand: true, "parser": false} {
		if got, err := ownCommand([]string{name}); got != is || is && err == nil {
			t.Errorf("%s: own command %v, %v", name, got, err)
		}
	}
}

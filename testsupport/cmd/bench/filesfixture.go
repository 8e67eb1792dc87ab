package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/klauspost/compress/gzip"
	"github.com/linkedin/goavro/v2"
)

// trip is a row of the files. Every value is computed from its number.
type trip struct {
	ID        int64   `json:"id"`
	Station   string  `json:"station"` // with a comma: quoted
	Address   string  `json:"address"` // quoted all the same
	Comment   string  `json:"comment"` // with quotes: doubled
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	Capacity  int64   `json:"capacity"`
	Docks     string  `json:"docks"`
	Bikes     int64   `json:"bikes"`
	Price     string  `json:"price"` // digits that a float would lose
	Active    bool    `json:"active"`
	Code      string  `json:"code"`
	Day       string  `json:"day"`
	StartedAt string  `json:"started_at"`
	Zone      string  `json:"zone"`
}

const tripHeader = "id,station,address,comment,latitude,longitude,capacity,docks,bikes,price,active,code,day,started_at,zone\n"

// tripSchema has types for seven of the fifteen columns.
const tripSchema = `{"type":"object","properties":{"id":{"type":"integer"},"latitude":{"type":"number"},"longitude":{"type":"number"},
	"capacity":{"type":"integer"},"bikes":{"type":"integer"},"price":{"type":"number"},"active":{"type":"boolean"}}}`

const tripAvro = `{"type":"record","name":"trip","fields":[{"name":"id","type":"long"},{"name":"station","type":"string"},{"name":"address","type":"string"},
	{"name":"comment","type":"string"},{"name":"latitude","type":"double"},{"name":"longitude","type":"double"},{"name":"capacity","type":"long"},
	{"name":"docks","type":"string"},{"name":"bikes","type":["null","long"]},{"name":"price","type":"string"},{"name":"active","type":"boolean"},
	{"name":"code","type":"string"},{"name":"day","type":"string"},{"name":"started_at","type":"string"},{"name":"zone","type":"string"}]}`

func tripOf(n int64) trip {
	number := strconv.FormatInt(n, 10)
	return trip{
		ID: n, Station: "Main Street, corner of " + strconv.FormatInt(n%997, 10) + "th Avenue", Address: "entrance " + number + ", ground floor",
		Comment: `said "` + strconv.FormatInt(n%31, 10) + `" and left`, Latitude: 40 + float64(n*7919%999999+1)/1e6, Longitude: -74 + float64(n*104729%999999+1)/1e6,
		Capacity: n % 60, Docks: strconv.FormatInt(n%59, 10), Bikes: n % 58, Price: strconv.FormatInt(n%90+1, 10) + ".50", Active: n%2 == 0,
		Code: "c" + number, Day: fmt.Sprintf("2024-%02d-%02d", n%12+1, n%28+1), StartedAt: fmt.Sprintf("2024-%02d-%02dT%02d:%02d:%02dZ", n%12+1, n%28+1, n%24, n%60, n*7%60),
		Zone: "zone " + strconv.FormatInt(n%13, 10),
	}
}

// appendCSV writes a row as a spreadsheet does.
func (t trip) appendCSV(dst []byte) []byte {
	quoted := func(s string) {
		dst = append(append(append(dst, '"'), bytes.ReplaceAll([]byte(s), []byte{'"'}, []byte(`""`))...), '"', ',')
	}
	plain := func(s string) { dst = append(append(dst, s...), ',') }
	plain(strconv.FormatInt(t.ID, 10))
	quoted(t.Station)
	quoted(t.Address)
	quoted(t.Comment)
	plain(strconv.FormatFloat(t.Latitude, 'f', 6, 64))
	plain(strconv.FormatFloat(t.Longitude, 'f', 6, 64))
	plain(strconv.FormatInt(t.Capacity, 10))
	plain(t.Docks)
	plain(strconv.FormatInt(t.Bikes, 10))
	plain(t.Price)
	plain(strconv.FormatBool(t.Active))
	plain(t.Code)
	plain(t.Day)
	plain(t.StartedAt)
	plain(t.Zone)
	dst[len(dst)-1] = '\n'
	return dst
}

// native is the row as goavro wants it.
func (t trip) native() map[string]any {
	return map[string]any{
		"id": t.ID, "station": t.Station, "address": t.Address, "comment": t.Comment, "latitude": t.Latitude, "longitude": t.Longitude, "capacity": t.Capacity, "docks": t.Docks,
		"bikes": goavro.Union("long", t.Bikes), "price": t.Price, "active": t.Active, "code": t.Code, "day": t.Day, "started_at": t.StartedAt, "zone": t.Zone,
	}
}

// write makes every file and configuration.
func (f *files) write(ctx context.Context) error {
	written := []error{
		f.file("rows.csv", func(w io.Writer) error { return f.writeCSV(w) }),
		f.file("rows.csv.gz", func(w io.Writer) error {
			z := gzip.NewWriter(w)
			if err := f.writeCSV(z); err != nil {
				return err
			}
			return z.Close()
		}),
		f.file("rows.ndjson", func(w io.Writer) error { return writeNDJSON(w, f.rows) }),
		f.file("few.ndjson", func(w io.Writer) error { return writeNDJSON(w, 1000) }),
		f.file("rows.avro", func(w io.Writer) error { return writeAvro(w, f.rows/3) }),
		f.configuration("csv.json", map[string]any{"format": "csv", "schema": json.RawMessage(tripSchema), "addRecordOffset": "/_meta/offset", "addValues": map[string]any{"/_meta/file": "rows.csv"}}),
		f.configuration("json.json", map[string]any{"format": "json", "addRecordOffset": "/_meta/offset", "addValues": map[string]any{"/_meta/file": "rows.ndjson"}}),
		f.configuration("none.json", map[string]any{"addRecordOffset": "/_meta/offset"}),
	}
	for _, err := range written {
		if err != nil {
			return err
		}
	}
	_, err := f.duckdb.run(ctx, "COPY (SELECT id::BIGINT AS id, station, address, comment, latitude::DOUBLE AS latitude, longitude::DOUBLE AS longitude, capacity::BIGINT AS capacity, docks, "+
		"bikes::INTEGER AS bikes, price, active::BOOLEAN AS active, code, day, started_at, zone FROM read_csv('"+f.path("rows.csv")+"', all_varchar=true)) TO '"+f.path("rows.parquet")+"' (FORMAT parquet)")
	return err
}

// file writes a file through a buffer.
func (f *files) file(name string, fill func(io.Writer) error) error {
	out, err := os.Create(f.path(name))
	if err != nil {
		return fmt.Errorf("making %s: %w", name, err)
	}
	w := bufio.NewWriterSize(out, readBytes)
	err = fill(w)
	if err == nil {
		err = w.Flush()
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

func (f *files) writeCSV(w io.Writer) error {
	line := []byte(tripHeader)
	for n := range f.rows {
		if _, err := w.Write(line); err != nil {
			return err
		}
		line = tripOf(n).appendCSV(line[:0])
	}
	_, err := w.Write(line)
	return err
}

func writeNDJSON(w io.Writer, rows int64) error {
	enc := json.NewEncoder(w)
	for n := range rows {
		if err := enc.Encode(tripOf(n)); err != nil {
			return err
		}
	}
	return nil
}

func writeAvro(w io.Writer, rows int64) error {
	out, err := goavro.NewOCFWriter(goavro.OCFConfig{W: w, Schema: tripAvro, CompressionName: goavro.CompressionDeflateLabel})
	if err != nil {
		return err
	}
	var block []any
	for n := range rows {
		if block = append(block, tripOf(n).native()); len(block) == 500 || n == rows-1 {
			if err := out.Append(block); err != nil {
				return err
			}
			block = block[:0]
		}
	}
	return nil
}

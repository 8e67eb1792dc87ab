package materialize

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/command"
)

// sieve is a destination that looks at every document and keeps none.
type sieve struct{ *vaultSink }

type sieveTransactor struct{ docs int }

func (s sieve) Open(_ context.Context, req OpenRequest) (Transactor, Opened, error) {
	opened := Opened{Checkpoint: Checkpoint{Owner: Zero}}
	for i := range req.Bindings {
		opened.NewTables = append(opened.NewTables, i)
	}
	return &sieveTransactor{}, opened, nil
}

func (t *sieveTransactor) Store(_ context.Context, docs *DocIter) error {
	for docs.Next() {
		t.docs++
	}
	return docs.Err()
}

func (t *sieveTransactor) Load(_ context.Context, keys *KeyIter, _ func(int, []byte) error) error {
	for keys.Next() {
		continue
	}
	return keys.Err()
}

func (*sieveTransactor) Commit(context.Context, []byte) ([]byte, error)        { return nil, nil }
func (*sieveTransactor) Acknowledge(context.Context, [][]byte) ([]byte, error) { return nil, nil }
func (*sieveTransactor) Close() error                                          { return nil }

// BenchmarkWrite is `write` of rows of 13 columns, new keys, from memory into nothing: what it costs besides the destination.
func BenchmarkWrite(b *testing.B) {
	v := &vault{tables: map[string]*vaultTable{}}
	vaults.Store("bench", v)
	connector := vaultConnector()
	connector.New = func(vaultConfig) (Materializer, error) { return sieve{&vaultSink{v}}, nil }
	dir := b.TempDir()
	columns := []string{"id", "tenant", "customer", "email", "status", "total", "currency", "placed_at", "updated_at", "note", "tags", "paid"}
	properties := make([]string, len(columns))
	for i, c := range columns {
		properties[i] = fmt.Sprintf(`%q:{"type":["string","integer","boolean","array","null"]}`, c)
	}
	catalog := dir + "/catalog.json"
	schema := `{"type":"object","properties":{` + strings.Join(properties, ",") + `,"_meta":{"type":"object","properties":{"op":{"type":"string"}}}},"reduce":{"strategy":"merge"}}`
	writeFile(b, catalog, `{"streams":[{"stream":{"name":"orders","namespace":"public","json_schema":`+schema+`},"sync_mode":"incremental","destination_sync_mode":"append_dedup","primary_key":[["id"]]}]}`)
	config := dir + "/config.json"
	writeFile(b, config, `{"name":"bench"}`)
	const rows = 100_000
	var in bytes.Buffer
	for i := range rows {
		fmt.Fprintf(&in, `{"type":"RECORD","record":{"stream":"orders","namespace":"public","data":{"id":%d,"tenant":%d,"customer":"customer-%08d","email":"someone.%d@example.com",`+
			`"status":"shipped","total":"%d.25","currency":"EUR","placed_at":"2026-11-29T21:14:03.123456Z","updated_at":"2026-11-29T21:14:03.123456Z","note":%q,"tags":["a","b","c"],"paid":true,`+
			`"_meta":{"op":"c","source":{"ts_ms":1795982378078,"schema":"public","table":"orders"}}},"emitted_at":1724500000123}}`+"\n", i, i%100, i, i, i%1000, strings.Repeat("lorem ", 10))
		if i%1000 == 999 {
			fmt.Fprintf(&in, "%s\n", stateOf("orders", fmt.Sprint(i)))
		}
	}
	b.SetBytes(int64(in.Len() / rows))
	b.ResetTimer()
	for done := 0; done < b.N; done += rows {
		p := &command.Process{
			Args: []string{"write", "--config", config, "--catalog", catalog}, Stdin: bytes.NewReader(in.Bytes()), Stdout: command.NewLines(io.Discard), Stderr: io.Discard, Now: time.Now,
		}
		if exit := run(erase(connector), p); exit != 0 {
			b.Fatalf("exit %d", exit)
		}
	}
}

func writeFile(tb testing.TB, path, content string) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
}

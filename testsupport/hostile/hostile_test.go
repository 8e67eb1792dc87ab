package hostile

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/estuary/connectors/testsupport/binary"
)

const most = 512 << 10 // KiB

// outcome is what became of a run of the parser.
type outcome struct {
	exit      int
	documents int
	message   string // of the one line that tells of an error
	memory    int64  // KiB, at most
}

// parse runs the parser over a pipe, with data segments that cannot grow beyond the bound.
func parse(t *testing.T, name, config string, in io.Reader) outcome {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(`{"filename":"`+name+`"`+config+`}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", `ulimit -d 524288 && exec "$@"`, "bash", binary.Build(t, "parser/cmd/parser"), "parse", "--config", path)
	var out, log bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &log
	err := cmd.Run()
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatalf("no usage of resources is known: %v", err)
	}
	o := outcome{exit: cmd.ProcessState.ExitCode(), documents: bytes.Count(out.Bytes(), []byte("\n")), memory: usage.Maxrss}
	for line := range strings.Lines(log.String()) {
		var entry struct{ Level, Msg string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%s: the log has the line %q", name, line)
		}
		if entry.Level == "error" {
			if o.message != "" {
				t.Errorf("%s: a second error: %s", name, entry.Msg)
			}
			o.message = entry.Msg
		}
	}
	return o
}

// What a file demands does not matter: the parser ends in one sentence, which says what is too much, and stays within its memory.
func TestParser_EndsInASentenceWithinItsMemory(t *testing.T) {
	const window = "\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00" // a frame that wants 2 GiB
	const dictionary = "\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x25\x00\x00\x00"
	for _, c := range []struct {
		name, config string
		in           io.Reader
		documents    int
		want         string
	}{
		{"zeros.csv.gz", "", zipped(io.LimitReader(filled(0), 64<<30)), 0, "zeros.csv.gz: line 1, byte 0: it is longer than 67108864 bytes"},
		{"zeros.json.gz", "", zipped(io.MultiReader(strings.NewReader(`{"a":"`), io.LimitReader(filled('0'), 64<<30))), 0, "zeros.json.gz: row 1, line 1, byte 0: "},
		{"field.csv", "", io.MultiReader(strings.NewReader("a,b\n1,2\n3,\""), io.LimitReader(filled('x'), 1<<30), strings.NewReader("\"\n")), 1, "field.csv: row 2, line 3, byte 8: it is longer than 67108864 bytes, in a quoted field"},
		{"bare.csv", "", io.MultiReader(strings.NewReader("a,b\n1,2\n3,"), io.LimitReader(filled('x'), 1<<30), strings.NewReader("\n")), 1, "bare.csv: row 2, line 3, byte 8: it is longer than 67108864 bytes"},
		{"controls.csv", "", io.MultiReader(strings.NewReader("a,b\n1,2\n3,"), io.LimitReader(filled(1), 60<<20), strings.NewReader("\n")), 1, "controls.csv: row 2, line 3, byte 8: the document of this row has up to "},
		{"window.csv.zst", "", strings.NewReader(window), 0, "window.csv.zst: zstd: the frame needs a window of more than 128 MiB: compress it without --long, or with --long=27"},
		{"dictionary.csv.xz", "", strings.NewReader(dictionary + strings.Repeat("\x00", 100)), 0, "dictionary.csv.xz: xz: it declares a dictionary of 1536 MiB; at most 64 MiB are allowed (xz -9)"},
		{"ten.csv.gz", "", strings.NewReader(wrapped(t, "a,b\n1,2\n", 10)), 0, "ten.csv.gz: gzip: the file is compressed more than 3 times"},
		{"deep.json", "", strings.NewReader(strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000)), 0, "deep.json: row 1, line 1, byte 2560: more than 512 objects and arrays are nested"},
		{"deep.csv", `,"schema":{"properties":{"a":{"type":"array"}}}`, strings.NewReader("a\n" + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "\n"), 0, `deep.csv: row 1, line 2, byte 2: column "a": value "[[`},
		{"declared.avro", "", strings.NewReader(container("null", 1, 1<<31, "x")), 0, "Avro block 1: it declares 2147483648 bytes; at most 67108864 are allowed"},
		{"string.avro", "", strings.NewReader(container("null", 1, 5, zigzag(1<<31))), 0, "Avro block 1: record 1 of 1: a string declares 2147483648 bytes; at most 67108864 are allowed"},
		{"deflated.avro", "", func() io.Reader {
			z := deflated(t, 1<<31)
			return strings.NewReader(container("deflate", 1, int64(len(z)), z))
		}(), 0, "Avro block 1: it holds more than 67108864 bytes"},
		{"page.parquet", "", strings.NewReader(page(1<<31-1, 8)), 0, "declares 8 bytes, 2147483647 uncompressed; at most 117440512 are allowed"},
		{"packed.parquet", "", strings.NewReader(page(8, 1<<31-1)), 0, "declares 2147483647 bytes, 8 uncompressed; at most 117440512 are allowed"},
		{"beyond.parquet", "", strings.NewReader(page(1<<31, 8)), 0, "decoding a page header: "}, // more than the field can hold
	} {
		o := parse(t, c.name, c.config, c.in)
		t.Logf("%s: %d MiB, %s", c.name, o.memory>>10, o.message)
		if o.exit != 1 || !strings.Contains(o.message, c.want) || !strings.HasPrefix(o.message, c.name+": ") || strings.Contains(o.message, "\n") || len(o.message) > 300 {
			t.Errorf("%s: exit %d, %q, want %q", c.name, o.exit, o.message, c.want)
		}
		if o.documents != c.documents {
			t.Errorf("%s: %d documents, want %d", c.name, o.documents, c.documents)
		}
		if o.memory > most {
			t.Errorf("%s: took %d MiB", c.name, o.memory>>10)
		}
	}
	// That what is made up here can be read at all: the same with sizes that are true.
	if o := parse(t, "true.parquet", "", strings.NewReader(page(8, 8))); o.exit != 0 || o.documents != 2 {
		t.Errorf("a page of its declared size: exit %d, %d documents, %q", o.exit, o.documents, o.message)
	}
	if o := parse(t, "true.avro", "", strings.NewReader(container("null", 2, 4, zigzag(1)+"x"+zigzag(1)+"y"))); o.exit != 0 || o.documents != 2 {
		t.Errorf("a block of its declared size: exit %d, %d documents, %q", o.exit, o.documents, o.message)
	}
}

package filesource

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/linkedin/goavro/v2"
	"github.com/parquet-go/parquet-go"

	"github.com/estuary/connectors/internal/blob/memblob"
)

// formats are the endings of the files of a schedule.
var formats = []string{".csv", ".csv.gz", ".zip", ".json", ".avro", ".parquet"}

// encode makes a file of n rows that differ from those of other puts of the same size.
func encode(t testing.TB, ending string, n, put int) []byte {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	text := func(i int) string { return fmt.Sprintf("row %05d of put %05d", i, put) }
	var b bytes.Buffer
	switch ending {
	case ".json":
		for i := range n {
			fmt.Fprintf(&b, "{\"n\":%d,\"text\":%q}\n", i, text(i))
		}
	case ".avro":
		w, err := goavro.NewOCFWriter(goavro.OCFConfig{
			W: &b, CompressionName: "deflate", Schema: `{"type":"record","name":"r","fields":[{"name":"n","type":"long"},{"name":"text","type":"string"}]}`,
		})
		must(err)
		for at := 0; at < n; at += 10 { // several blocks
			var block []map[string]any
			for i := at; i < min(n, at+10); i++ {
				block = append(block, map[string]any{"n": int64(i), "text": text(i)})
			}
			must(w.Append(block))
		}
	case ".parquet":
		type record struct {
			N    int64  `parquet:"n"`
			Text string `parquet:"text"`
		}
		w := parquet.NewGenericWriter[record](&b)
		for i := range n {
			_, err := w.Write([]record{{int64(i), text(i)}})
			must(err)
			if i%10 == 9 { // several row groups
				must(w.Flush())
			}
		}
		must(w.Close())
	default:
		b.WriteString("n,text\n")
		for i := range n {
			fmt.Fprintf(&b, "%d,%s\n", i, text(i))
		}
	}
	switch ending {
	case ".csv.gz":
		return gzipped(t, b.Bytes())
	case ".zip":
		var archive bytes.Buffer
		w := zip.NewWriter(&archive)
		f, err := w.Create("member.csv")
		must(err)
		_, err = f.Write(b.Bytes())
		must(err)
		must(w.Close())
		return archive.Bytes()
	}
	return b.Bytes()
}

// schedule is a bucket that changes while it is read, by processes that are killed.
type schedule struct {
	t      *testing.T
	random *rand.Rand
	mu     sync.Mutex
	bucket *memblob.Bucket
	now    time.Time
	rows   map[string]int // of what is there, by key
	puts   int
	quiet  bool

	state  json.RawMessage
	kept   []document
	killed map[string]int // inside a file, by its ending
	kills  int
}

const scheduleLookback = time.Hour

func newSchedule(t *testing.T, seed uint64, files int) *schedule {
	s := &schedule{
		t: t, random: rand.New(rand.NewPCG(seed, 3)), bucket: memblob.New("bkt"), now: time.Unix(1_700_000_000, 0), //nolint:gosec // replayed by its seed
		rows: map[string]int{}, killed: map[string]int{},
	}
	s.bucket.PageSize = 7
	s.bucket.Now = func() time.Time {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.now
	}
	for range files {
		s.put(s.key(), 0)
	}
	s.bucket.Fault = func(memblob.Call) memblob.Fault {
		s.change()
		return memblob.Fault{}
	}
	return s
}

func (s *schedule) key() string {
	return fmt.Sprintf("%02d/%03d%s", s.random.IntN(20), s.random.IntN(50), formats[s.random.IntN(len(formats))])
}

// put puts a file whose time is a while ago.
func (s *schedule) put(key string, ago time.Duration) {
	s.puts++
	n := 1 + s.random.IntN(60)
	_, ending, _ := strings.Cut(key, ".")
	s.rows[key] = n
	s.bucket.Put(memblob.Entry{Key: key, Data: encode(s.t, "."+ending, n, s.puts), Modified: s.now.Add(-ago).Truncate(time.Second)})
}

// change does what others do to the bucket, now and then.
func (s *schedule) change() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(time.Duration(s.random.IntN(800)) * time.Millisecond)
	if s.quiet || s.random.IntN(4) > 0 {
		return
	}
	there := slices.Sorted(maps.Keys(s.rows))
	some := there[s.random.IntN(len(there))]
	switch s.random.IntN(6) {
	case 0:
		s.put(s.key(), 0)
	case 1:
		s.put(some, 0)
	case 2: // a multipart upload that began almost an hour ago
		s.put(s.key(), scheduleLookback-time.Minute)
	case 3:
		if len(there) > 10 {
			s.bucket.Delete(some)
			delete(s.rows, some)
		}
	case 4: // inside one second, at the same size: the rows differ by their put alone
		if e, ok := s.bucket.Get(some); ok && s.now.Sub(e.Modified) < scheduleLookback/2 {
			s.puts++
			_, ending, _ := strings.Cut(some, ".")
			s.bucket.Put(memblob.Entry{Key: some, Data: encode(s.t, "."+ending, s.rows[some], s.puts), Modified: e.Modified})
		}
	}
}

// play reads in several processes, each killed at a state, until nothing changes any more. spoil changes a state between two processes.
func (s *schedule) play(lookback time.Duration, rounds int, spoil func(state json.RawMessage) json.RawMessage) error {
	c := newCapture(s.t, s.bucket)
	c.reading.Advanced.Lookback = lookback
	c.change = func(x *Source) {
		quick(x)
		x.limits.batchBytes = 1200
	}
	for round := range rounds + 2 {
		s.quiet = round >= rounds
		if c.state = s.state; c.state != nil && spoil != nil {
			c.state = spoil(c.state)
		}
		o, err := c.run()
		if err != nil {
			return err
		}
		at := o.states[len(o.states)-1]
		if !s.quiet && s.random.IntN(8) > 0 {
			at = o.states[s.random.IntN(len(o.states))]
			s.kills++
		}
		s.kept, s.state = append(s.kept, o.documents[:at.documents]...), at.state
		var stands struct{ Path, At string }
		if err := json.Unmarshal(s.state, &stands); err != nil {
			return err
		}
		if stands.At != "" {
			_, ending, _ := strings.Cut(stands.Path, ".")
			s.killed["."+ending]++
		}
	}
	return s.judge()
}

// judge: each document of each version that is there once, no document of an older one twice.
func (s *schedule) judge() error {
	times := map[string]int{}
	for _, d := range s.kept {
		if times[d.id()]++; times[d.id()] > 1 {
			return fmt.Errorf("%s came twice", d.id())
		}
	}
	for key, n := range s.rows {
		e, ok := s.bucket.Get(key)
		if !ok {
			return fmt.Errorf("%s is not there", key)
		}
		for i := range n {
			if id := fmt.Sprintf("bkt/%s %s %d", key, e.Version, i); times[id] != 1 {
				return fmt.Errorf("%s came %d times", id, times[id])
			}
		}
		if times[fmt.Sprintf("bkt/%s %s %d", key, e.Version, n)] > 0 {
			return fmt.Errorf("%s has more than its %d rows", key, n)
		}
	}
	return nil
}

func scheduleSeeds() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("STRESS_SEEDS"), 10, 32); err == nil {
		return n
	}
	return 6
}

const (
	scheduleFiles  = 60
	scheduleRounds = 16
)

func TestChanges_WhileProcessesAreKilled(t *testing.T) {
	seeds := uint64(few(int(scheduleSeeds())))
	kills, inFile := 0, map[string]int{}
	for seed := range seeds {
		s := newSchedule(t, seed, scheduleFiles)
		if err := s.play(scheduleLookback, scheduleRounds, nil); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		kills += s.kills
		for ending, n := range s.killed {
			inFile[ending] += n
		}
	}
	t.Logf("%d kills; inside files: %v", kills, inFile)
	for _, ending := range formats {
		if inFile[ending] == 0 && seeds >= 6 {
			t.Errorf("no process was killed inside a %s file: the schedules prove too little", ending)
		}
	}
}

// Each of these must make some of the schedules fail; else they prove nothing.
func TestChanges_FindWhatIsBroken(t *testing.T) {
	edit := func(change func(members map[string]any)) func(json.RawMessage) json.RawMessage {
		return func(state json.RawMessage) json.RawMessage {
			var members map[string]any
			if err := json.Unmarshal(state, &members); err != nil {
				t.Fatal(err)
			}
			change(members)
			state, err := json.Marshal(members)
			if err != nil {
				t.Fatal(err)
			}
			return state
		}
	}
	for name, c := range map[string]struct {
		lookback time.Duration
		versions bool // all files have the same one
		spoil    func(json.RawMessage) json.RawMessage
	}{
		"no look-back":        {lookback: 0},
		"no versions":         {lookback: scheduleLookback, versions: true},
		"the cursor is gone":  {lookback: scheduleLookback, spoil: edit(func(m map[string]any) { delete(m, "at") })},
		"since moves at once": {lookback: scheduleLookback, spoil: edit(func(m map[string]any) { m["since"] = m["newest"] })},
	} {
		found := false
		for seed := uint64(0); seed < scheduleSeeds() && !found; seed++ {
			s := newSchedule(t, seed, scheduleFiles)
			if c.versions {
				s = newScheduleWithoutVersions(t, seed)
			}
			err := s.play(c.lookback, scheduleRounds, c.spoil)
			if found = err != nil; found {
				t.Logf("%s: seed %d: %v", name, seed, err)
			}
		}
		if !found {
			t.Errorf("%s: no schedule finds it", name)
		}
	}
}

func newScheduleWithoutVersions(t *testing.T, seed uint64) *schedule {
	s := newSchedule(t, seed, 0)
	s.bucket.Versions = func([]byte) string { return "same" }
	for range scheduleFiles {
		s.put(s.key(), 0)
	}
	return s
}

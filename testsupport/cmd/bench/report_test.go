package main

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		figure, bar float64
		want        string
	}{
		{0.69, 0.7, "pass"},
		{0.7, 0.7, "pass"},
		{0.7001, 0.7, fail}, // printed as 0.70 all the same
		{0, 0.7, fail},      // not measured
		{math.NaN(), 0.7, fail},
		{math.Inf(1), 0.7, fail},
	} {
		if got := verdict(c.figure, c.bar); got != c.want {
			t.Errorf("%v against %v: %s, want %s", c.figure, c.bar, got, c.want)
		}
	}
}

// measuredReport has every figure within its bar.
func measuredReport() *report {
	backfill := comparison{units: 1_000_000, pairs: []pair{{took(4*time.Second, 0, 0), took(2*time.Second, 1500*time.Millisecond, 20<<20)}}}
	log := comparison{units: 500_000, pairs: []pair{{took(3*time.Second, 0, 0), took(3300*time.Millisecond, 900*time.Millisecond, 30<<20)}}}
	r := &report{sizes: standard, settings: "fsync=off", machine: machine{date: "2026-01-02", commit: "abc", cpu: "some CPU", kernel: "6.1", memory: "8 GiB", load: "0.01", server: "15.1", cores: 2}}
	loop := comparison{units: 1_000_000, pairs: []pair{{subject: took(2500*time.Millisecond, 1400*time.Millisecond, 0)}}}
	r.compared("backfill", "psql", backfill, backfillBars, loop)
	r.compared("log", "pg_recvlogical", log, logBars, loop)
	r.compared("write", "psql COPY", comparison{units: 1_000_000, pairs: []pair{{took(4*time.Second, 0, 0), took(8*time.Second, 9*time.Second, 200<<20)}}}, writeBars, comparison{})
	r.compared("updates", "batches", comparison{units: 1_000_000, pairs: []pair{{took(40*time.Second, 0, 0), took(26*time.Second, 0, 200<<20)}}}, updatesBars, comparison{})
	r.compared("pipeline", "psql | psql", comparison{units: 1_000_000, pairs: []pair{{took(6*time.Second, 0, 0), took(8*time.Second, 5900*time.Millisecond, 100<<20)}}}, pipelineBars, loop)
	cpu := func(reference, subject time.Duration) comparison {
		return comparison{units: 1_500_000, pairs: []pair{{took(2*time.Second, reference, 0), took(900*time.Millisecond, subject, 50<<20)}}}
	}
	r.compared("CSV to NDJSON", "DuckDB", cpu(2*time.Second, 900*time.Millisecond), csvBars, comparison{})
	r.compared("NDJSON to NDJSON", "json.Valid", cpu(2*time.Second, 900*time.Millisecond), ndjsonBars, comparison{})
	r.remembered("backfill of 10,000,000 rows", 40<<20, memoryBar)
	r.pipelineMemory("10,000,000 rows", usage{peak: 90 << 20, children: map[string]int64{"source-postgres": 50 << 20, "materialize-pos": 250 << 20}})
	return r
}

func TestReport_EachBarCounts(t *testing.T) {
	if !measuredReport().passed() {
		t.Fatalf("with everything within its bar:\n%s", measuredReport().text())
	}
	for name, spoil := range map[string]func(*report){
		"backfill ratio": func(r *report) { r.results[0].measured.pairs[0].subject.wall = 2810 * time.Millisecond },
		"backfill CPU":   func(r *report) { r.results[0].measured.pairs[0].subject.cpu = 1610 * time.Millisecond },
		"log ratio":      func(r *report) { r.results[1].measured.pairs[0].subject.wall = 3610 * time.Millisecond },
		"log CPU":        func(r *report) { r.results[1].measured.pairs[0].subject.cpu = 1001 * time.Millisecond },
		"memory":         func(r *report) { r.memories[7].peak = 128<<20 + 1 },
		"write ratio":    func(r *report) { r.results[2].measured.pairs[0].subject.wall = 10001 * time.Millisecond },
		"updates ratio":  func(r *report) { r.results[3].measured.pairs[0].subject.wall = 26700 * time.Millisecond },
		"pipeline ratio": func(r *report) { r.results[4].measured.pairs[0].subject.wall = 9001 * time.Millisecond },
		"pipeline CPU":   func(r *report) { r.results[4].measured.pairs[0].subject.cpu = 6001 * time.Millisecond },
		"CSV ratio":      func(r *report) { r.results[5].measured.pairs[0].subject.wall = 1001 * time.Millisecond },
		"CSV CPU":        func(r *report) { r.results[5].measured.pairs[0].subject.cpu = 1001 * time.Millisecond },
		"NDJSON CPU":     func(r *report) { r.results[6].measured.pairs[0].subject.cpu = 1001 * time.Millisecond },
		"parser memory":  func(r *report) { r.memories[6].peak = 128<<20 + 1 },
		"sink memory":    func(r *report) { r.memories[10].peak = 256<<20 + 1 },
		"no sink seen":   func(r *report) { r.memories[10].peak = 0 },
		"nothing at all": func(r *report) { *r = report{} },
	} {
		t.Run(name, func(t *testing.T) {
			r := measuredReport()
			spoil(r)
			if r.passed() {
				t.Errorf("passed:\n%s", r.text())
			}
			if name != "nothing at all" && strings.Count(r.text(), fail) != 1 {
				t.Errorf("the table does not have one %s:\n%s", fail, r.text())
			}
		})
	}
}

func TestReport_BarsOfCPUGrowWithASlowMachine(t *testing.T) {
	r := measuredReport()
	r.results[0].measured.pairs[0].subject.cpu = 3190 * time.Millisecond
	r.results[4].loop.pairs = slices.Clone(r.results[4].loop.pairs)  // its own
	r.results[0].loop.pairs[0].subject.cpu = 3400 * time.Millisecond // twice loopCPU
	if text := r.text(); !r.passed() || !strings.Contains(text, "3.2 µs") || !strings.Contains(text, "3.40 µs of CPU a row beside the backfill") {
		t.Errorf("3.19 µs where the plain loop takes 3.40:\n%s", text)
	}
	r.results[0].measured.pairs[0].subject.cpu = 3210 * time.Millisecond
	if r.passed() {
		t.Errorf("passed with 3.21 µs where the plain loop takes 3.40:\n%s", r.text())
	}
}

func TestReport_SaysWhatAndWhere(t *testing.T) {
	r := measuredReport()
	text, markdown := r.text(), r.markdown()
	for _, want := range []string{"ratio 0.50", "ratio 1.10", "1.50 µs", "1.80 µs", "40 MiB", "1.40 µs", "2026-01-02", "abc", "some CPU", "2 cores", "6.1", "15.1", "fsync=off", "load"} {
		for where, out := range map[string]string{"table": text, "document": markdown} {
			if !strings.Contains(out, want) {
				t.Errorf("the %s lacks %q:\n%s", where, want, out)
			}
		}
	}
	if !strings.Contains(markdown, "| backfill of 1,000,000, beside psql | 4.00 s | 2.00 s | ratio 0.50 | 0.7 | pass |") || !strings.Contains(markdown, "| ratio 0.65 | 0.667 | pass |") {
		t.Errorf("the document's table:\n%s", markdown)
	}
	if strings.Contains(markdown, "%!") {
		t.Errorf("a verb without its value:\n%s", markdown)
	}
}

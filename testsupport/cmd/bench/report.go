package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// bars are what is promised: at most so many times the reference's time, and so many microseconds of CPU time for each row or change, on a machine on which
// the plain loop takes loopCPU; a slower one has proportionally more.
type bars struct {
	ratio, cpu float64 // 0: no bar
	cpuRatio   float64 // at most so many times the reference's CPU time; 0: no bar
	memory     int64   // of the subject's process
}

// loopCPU in microseconds a row.
const loopCPU = 1.7

var (
	backfillBars = bars{ratio: 0.7, cpu: 1.6, memory: memoryBar}
	logBars      = bars{ratio: 1.2, cpu: 2.0, memory: memoryBar}
	writeBars    = bars{ratio: 2.5, memory: sinkMemoryBar}
	// updatesBars: one and a half times as many rows a second.
	updatesBars  = bars{ratio: 1 / 1.5, memory: sinkMemoryBar}
	pipelineBars = bars{ratio: 1.5, cpu: 6, memory: memoryBar}
	csvBars      = bars{ratio: 0.5, cpuRatio: 0.5, memory: memoryBar}
	ndjsonBars   = bars{cpuRatio: 0.5, memory: memoryBar}
	gzipBars     = bars{ratio: 0.9, memory: memoryBar}
	parquetBars  = bars{cpuRatio: 1, memory: memoryBar}
	// At least twenty times, and three times, the reference's speed.
	manyBars  = bars{ratio: 1. / 20, memory: memoryBar}
	largeBars = bars{ratio: 1. / 3, memory: memoryBar}
	avroBars  = bars{cpuRatio: 0.4, memory: memoryBar}
)

// Bars of the resident memory of a source or the runner, and of a sink, wherever it is measured.
const (
	memoryBar     = 128 << 20
	sinkMemoryBar = 256 << 20
)

// report gathers what was measured.
type report struct {
	machine  machine
	settings string
	sizes    sizes
	results  []result
	memories []memoryResult
}

type result struct {
	what, reference string
	measured        comparison
	bars            bars
	loop            comparison // the plain loop in the same minutes, subject sides only
}

// cpuBar is the bar on this machine.
func (r *result) cpuBar() float64 { return r.bars.cpu * max(1, r.loop.cpu()/loopCPU) }

type memoryResult struct {
	what      string
	peak, bar int64 // bytes
}

func (r *report) compared(what, reference string, c comparison, b bars, loop comparison) {
	r.results = append(r.results, result{what, reference, c, b, loop})
	r.remembered(fmt.Sprintf("%s of %s", what, grouped(c.units)), c.peak(), b.memory)
}

func (r *report) remembered(what string, peak, bar int64) {
	r.memories = append(r.memories, memoryResult{what, peak, bar})
}

// passed tells whether every bar was met; a report without figures has not passed.
func (r *report) passed() bool {
	for _, row := range r.rows() {
		if row[len(row)-1] == fail {
			return false
		}
	}
	return len(r.memories) > 0
}

const fail = "FAIL"

// verdict compares unrounded figures: what is printed as equal to the bar may be above it.
func verdict(figure, bar float64) string {
	if figure > 0 && figure <= bar { // what was not measured has not passed
		return "pass"
	}
	return fail
}

var header = []string{"what", "reference", "ours", "figure", "bar", "result"}

// rows are the table's, in the order of header.
func (r *report) rows() [][]string {
	var rows [][]string
	for _, c := range r.results {
		if c.bars.ratio == 0 {
			continue
		}
		reference, ours := c.measured.seconds()
		rows = append(rows, []string{
			fmt.Sprintf("%s of %s, beside %s", c.what, grouped(c.measured.units), c.reference), seconds(reference), seconds(ours),
			fmt.Sprintf("ratio %.2f", c.measured.ratio()), fmt.Sprintf("%.3g", c.bars.ratio), verdict(c.measured.ratio(), c.bars.ratio),
		})
	}
	for _, c := range r.withCPU() {
		rows = append(rows, []string{
			"CPU of the " + c.what, "", "", fmt.Sprintf("%.2f µs each", c.measured.cpu()), fmt.Sprintf("%.1f µs", c.cpuBar()), verdict(c.measured.cpu(), c.cpuBar()),
		})
	}
	for _, c := range r.results {
		if c.bars.cpuRatio == 0 {
			continue
		}
		reference := median(c.measured.each(func(p pair) float64 { return p.reference.cpu.Seconds() }))
		ours := median(c.measured.each(func(p pair) float64 { return p.subject.cpu.Seconds() }))
		rows = append(rows, []string{
			fmt.Sprintf("CPU of %s of %s, beside %s", c.what, grouped(c.measured.units), c.reference), seconds(reference), seconds(ours),
			fmt.Sprintf("ratio %.2f", c.measured.cpuRatio()), fmt.Sprintf("%.3g", c.bars.cpuRatio), verdict(c.measured.cpuRatio(), c.bars.cpuRatio),
		})
	}
	for _, m := range r.memories {
		rows = append(rows, []string{
			"memory, " + m.what, "", "", fmt.Sprintf("%.0f MiB", mebibytes(m.peak)), fmt.Sprintf("%.0f MiB", mebibytes(m.bar)), verdict(float64(m.peak), float64(m.bar)),
		})
	}
	return rows
}

// withCPU are the results whose CPU time has a bar.
func (r *report) withCPU() []result {
	return slices.DeleteFunc(slices.Clone(r.results), func(c result) bool { return c.bars.cpu == 0 })
}

// scale is a sentence about the plain loop; "": it was not needed.
func (r *report) scale() string {
	results := r.withCPU()
	if len(results) == 0 {
		return ""
	}
	var measured, promised []string
	for _, c := range results {
		measured = append(measured, fmt.Sprintf("%.2f µs of CPU a row beside the %s", c.loop.cpu(), c.what))
		promised = append(promised, fmt.Sprintf("%.1f µs for the %s", c.bars.cpu, c.what))
	}
	return fmt.Sprintf("For scale: a plain loop that reads the same table as COPY text through pgconn and writes lines of the same length takes %s. Where it takes no more than %.1f µs, the bars are %s; on a slower machine they grow with it.",
		strings.Join(measured, " and "), loopCPU, strings.Join(promised, " and "))
}

// runs lists each measurement, so that a reader sees how far they scatter.
func (r *report) runs() []string {
	var list []string
	for _, c := range r.results {
		for i, p := range c.measured.pairs {
			list = append(list, fmt.Sprintf("%s, pair %d: reference %s; ours %s; ratio %.3f", c.what, i+1, p.reference, p.subject, p.ratio()))
		}
	}
	return list
}

// text is the table for a terminal.
func (r *report) text() string {
	var b strings.Builder
	out := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, strings.Join(header, "\t"))
	for _, row := range r.rows() {
		fmt.Fprintln(out, strings.Join(row, "\t"))
	}
	_ = out.Flush() // into memory
	if scale := r.scale(); scale != "" {
		fmt.Fprintln(&b, scale)
	}
	m := r.machine
	fmt.Fprintf(&b, "%s, commit %s; %s, %d cores, %s, Linux %s, load %s at the start; PostgreSQL %s with %s\n", m.date, m.commit, m.cpu, m.cores, m.memory, m.kernel, m.load, m.server, r.settings)
	return b.String()
}

func seconds(s float64) string { return fmt.Sprintf("%.2f s", s) }

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }

// String is wall time, CPU time and memory.
func (u usage) String() string {
	return fmt.Sprintf("%s, CPU %s, %.0f MiB", seconds(u.wall.Seconds()), seconds(u.cpu.Seconds()), mebibytes(u.peak))
}

// grouped writes 1234567 as 1,234,567.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

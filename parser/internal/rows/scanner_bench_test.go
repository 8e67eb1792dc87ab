package rows

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// rides is a file of 15 columns, three of them quoted text and one of these with doubled quotes, of about size bytes.
func rides(size int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	b := []byte("ride_id,rideable_type,started_at,ended_at,start_station_name,start_station_id,end_station_name,end_station_id,start_lat,start_lng,end_lat,end_lng,member,duration,note\n")
	for len(b) < size {
		b = fmt.Appendf(b, "%016X,%s,2022-04-%02d 10:%02d:%02d,2022-04-%02d 11:%02d:%02d,\"W %d St & %d Ave, North\",%d,\"Broadway & E %d St, between Pier %d\",%d,%.6f,%.6f,%.6f,%.6f,%s,%d,\"said \"\"ring the bell\"\" %d times\"\n",
			random.Uint64(), []string{"electric_bike", "classic_bike", "docked_bike"}[random.IntN(3)],
			random.IntN(28)+1, random.IntN(60), random.IntN(60), random.IntN(28)+1, random.IntN(60), random.IntN(60),
			random.IntN(200), random.IntN(12), random.IntN(9000), random.IntN(100), random.IntN(99), random.IntN(9000),
			40+random.Float64(), -73-random.Float64(), 40+random.Float64(), -73-random.Float64(),
			[]string{"member", "casual"}[random.IntN(2)], random.IntN(5000), random.IntN(10))
	}
	return b
}

// cpu is the time that this process has used, in seconds.
func cpu(b *testing.B) float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return float64(usage.Utime.Sec+usage.Stime.Sec) + float64(usage.Utime.Usec+usage.Stime.Usec)/1e6
}

// numbers is a file of 15 columns of few digits.
func numbers(size int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	b := []byte("a,b,c,d,e,f,g,h,i,j,k,l,m,n,o\n")
	for len(b) < size {
		for i := range 15 {
			b = strconv.AppendInt(b, int64(random.IntN(1<<(2*i+1))), 10)
			b = append(b, ',')
		}
		b[len(b)-1] = '\n'
	}
	return b
}

func BenchmarkScanner(b *testing.B) {
	text := rides(16 << 20)
	for _, c := range []struct {
		name string
		file []byte
		d    Dialect
	}{
		{"plain", text, Dialect{Delimiter: ",", Quote: '"', End: LineEnd}},
		{"plain, short fields", numbers(16 << 20), Dialect{Delimiter: ",", Quote: '"', End: LineEnd}},
		{"any end", text, Dialect{Delimiter: ",", Quote: '"', End: AnyEnd}},
		{"escape", text, Dialect{Delimiter: ",", Quote: '"', Escape: '\\', End: LineEnd}},
	} {
		b.Run(c.name, func(b *testing.B) {
			measure(b, len(c.file), func() {
				for s := NewScanner(bytes.NewReader(c.file), c.d, Options{}, 0, 1); ; {
					row, err := s.Next()
					if err == io.EOF {
						return
					}
					if err != nil || len(row.Fields) != 15 {
						b.Fatal(err, len(row.Fields))
					}
				}
			})
		})
	}
}

func BenchmarkW3C(b *testing.B) {
	for name, separator := range map[string]string{"blanks": " ", "tabs": "\t"} {
		file := "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken\n" +
			strings.Repeat(strings.ReplaceAll("2022-04-01 10:00:00 10.0.0.1 GET /images/logo.png v=12&size=large 443 - 192.168.17.4 Mozilla/5.0+(X11;+Linux+x86_64) https://example.com/index.html 200 0 0 31\n", " ", separator), 80_000)
		b.Run(name, func(b *testing.B) {
			measure(b, len(file), func() {
				for w := NewW3C(strings.NewReader(file), Options{}); ; {
					row, err := w.Next()
					if err == io.EOF {
						return
					}
					if err != nil || len(row.Fields) != 15 {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

func BenchmarkDetect(b *testing.B) {
	for _, size := range []int{1 << 10, SampleSize} {
		file := rides(size)
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			measure(b, len(file), func() {
				if d, err := Detect(file, true, Given{}); err != nil || d.Delimiter != "," {
					b.Fatal(d, err)
				}
			})
		})
	}
}

// measure runs once per iteration, and reports the bytes per second of CPU, too: a busy machine distorts the other figure.
func measure(b *testing.B, size int, once func()) {
	b.SetBytes(int64(size))
	b.ReportAllocs()
	before := cpu(b)
	for b.Loop() {
		once()
	}
	b.ReportMetric(float64(size)*float64(b.N)/1e6/(cpu(b)-before), "cpu-MB/s")
}

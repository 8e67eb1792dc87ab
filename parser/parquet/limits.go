package parquet

// Limits bound what one file may take. A field that is 0 stands for its default.
type Limits struct {
	Footer  int // bytes of the footer; 64 MiB
	Memory  int // bytes that the footer's structures take when they are decoded; 256 MiB
	Columns int // leaf columns; 100,000
	Page    int // bytes of one page, compressed or not, as declared and as found; 64 MiB
	Pages   int // bytes of all pages and dictionaries that are open together; 256 MiB
	Row     int // bytes of one row's JSON; 64 MiB
}

func (l Limits) withDefaults() Limits {
	set := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	set(&l.Footer, 64<<20)
	set(&l.Memory, 256<<20)
	set(&l.Columns, 100_000)
	set(&l.Page, 64<<20)
	set(&l.Pages, 256<<20)
	set(&l.Row, 64<<20)
	return l
}

package rows

import (
	"reflect"
	"testing"
)

// none turns quoting off.
func option(s string) *string { return &s }

// grammar is what delimited text means: text, what the user fixed, and the values of each row.
var grammar = []struct {
	name  string
	text  string
	given Given
	want  [][]string
}{
	// bug streams-files-parser 18: predecessor, short rows failed and long ones passed where the configuration named the columns: each row comes with as many fields as it has
	{"short row", "a,b,c\n1,2\n", Given{}, [][]string{{"a", "b", "c"}, {"1", "2"}}},
	{"short rows under names that are given", "1\n2,3\n4,5,6", Given{Columns: 3}, [][]string{{"1"}, {"2", "3"}, {"4", "5", "6"}}},
	{"long row", "a,b,c\n1,2,3,4\n", Given{}, [][]string{{"a", "b", "c"}, {"1", "2", "3", "4"}}},
	{"long row, the surplus empty", "a,b,c\n1,2,3,,\n", Given{}, [][]string{{"a", "b", "c"}, {"1", "2", "3", "", ""}}},
	{"long row under names that are given", "1\n2,3,4,5", Given{Columns: 3}, [][]string{{"1"}, {"2", "3", "4", "5"}}},

	{"empty file", "", Given{}, nil},
	{"only line ends", "\n\r\n\n", Given{}, nil},
	{"only CRs", "\r\r", Given{}, nil},
	{"only Ctrl-Z", "\x1a", Given{}, nil},
	{"header only", "a,b,c\n", Given{}, [][]string{{"a", "b", "c"}}},
	{"header only, no line end", "a,b,c", Given{}, [][]string{{"a", "b", "c"}}},
	{"blank lines", "\na,b\n\n1,2\n\n\n3,4\n\n", Given{}, [][]string{{"a", "b"}, {"1", "2"}, {"3", "4"}}},
	{"blank lines, CRLF", "\r\na,b\r\n\r\n1,2\r\n\r\n", Given{}, [][]string{{"a", "b"}, {"1", "2"}}},
	{"blank line in one column", "a\n1\n\n2\n", Given{}, [][]string{{"a"}, {"1"}, {"2"}}},
	{"a quoted empty field is a row", "a\n\"\"\n2\n", Given{}, [][]string{{"a"}, {""}, {"2"}}},
	{"a quoted empty field is a row, CRLF", "a\r\n\"\"\r\n2\r\n", Given{}, [][]string{{"a"}, {""}, {"2"}}},
	{"a quoted empty field at the end is a row", "a\n\"\"", Given{}, [][]string{{"a"}, {""}}},
	{"line of blanks", "a,b\n  \n1,2\n", Given{}, [][]string{{"a", "b"}, {"  "}, {"1", "2"}}},
	{"line of blanks in one column", "a\n \n1\n", Given{}, [][]string{{"a"}, {" "}, {"1"}}},

	// bug streams-files-parser 37: Polars #3201, #28658: names that are there twice shift nothing; they are refused where they get their meaning
	{"names come as they stand", "id,name,id\n1,2,3\n", Given{}, [][]string{{"id", "name", "id"}, {"1", "2", "3"}}},
	{"empty name", "a,,c\n1,2,3\n", Given{}, [][]string{{"a", "", "c"}, {"1", "2", "3"}}},
	{"blanks, slashes and tildes in names", " id ,a/b,~,0,-\n1,2,3,4,5\n", Given{}, [][]string{{" id ", "a/b", "~", "0", "-"}, {"1", "2", "3", "4", "5"}}},
	{"quoted first name", "\"a\",b\n1,2\n", Given{}, [][]string{{"a", "b"}, {"1", "2"}}},

	// bug streams-files-parser 40: Go #22746, encoding/csv makes LF of CRLF inside quotes
	// bug streams-files-parser 46: Airbyte #86897, an option for line ends in values was dropped: they need none
	{"line ends in quotes stay as they are", "a,b\n\"x\ny\",1\n\"x\r\ny\",2\n\"x\ry\",3\n", Given{}, [][]string{{"a", "b"}, {"x\ny", "1"}, {"x\r\ny", "2"}, {"x\ry", "3"}}},
	{"line end in a name", "\"a\r\nx\",b\r\n1,2\r\n", Given{}, [][]string{{"a\r\nx", "b"}, {"1", "2"}}},
	// bug streams-files-parser 36: DuckDB #7706
	{"last field quoted, ends with a line end", "a,b\n1,\"x\n\"", Given{}, [][]string{{"a", "b"}, {"1", "x\n"}}},
	{"last field quoted, line end behind it", "a,b\n1,\"x\n\"\n2,y\n", Given{}, [][]string{{"a", "b"}, {"1", "x\n"}, {"2", "y"}}},
	{"doubled quotes", "a,b\n\"\"\"x\"\"\",\"y\"\"\"\n\"\"\"\",z\n", Given{}, [][]string{{"a", "b"}, {`"x"`, `y"`}, {`"`, "z"}}},
	{"doubled quote at the end", "a,b\n1,\"x\"\"\"", Given{}, [][]string{{"a", "b"}, {"1", `x"`}}},

	// bug streams-files-parser 32: DuckDB #14883, Polars #1528
	{"quote inside a field", "a,b\n5\" pipe,x\n6\" pipe,y\n", Given{}, [][]string{{"a", "b"}, {`5" pipe`, "x"}, {`6" pipe`, "y"}}},
	{"quote at the end of a field", "a,b\n5\",6\"\n", Given{}, [][]string{{"a", "b"}, {`5"`, `6"`}}},
	{"doubled quote inside a field", "a,b\nx\"\"y,z\n", Given{}, [][]string{{"a", "b"}, {`x""y`, "z"}}},
	{"text behind the closing quote", "a,b\n\"abc\"def,x\n\"abc\"def\"ghi\"\",y\n", Given{}, [][]string{{"a", "b"}, {"abcdef", "x"}, {`abcdef"ghi""`, "y"}}},
	{"text behind the closing quote, doubled ones before", "a,b\n\"a\"\"b\"\"\"c,x\n", Given{}, [][]string{{"a", "b"}, {`a"b"c`, "x"}}},
	{"blanks behind the closing quote", "a,b\r\n\"abc\" ,\"x\" \r\n1,2\r\n", Given{}, [][]string{{"a", "b"}, {"abc ", "x "}, {"1", "2"}}},
	{"CR behind the closing quote", "a,b\n1,\"x\"\r2\n3,\"y\"\r", Given{}, [][]string{{"a", "b"}, {"1", "x\r2"}, {"3", "y\r"}}},
	{"quoted and not", "a,b,c\na,\"\",c\na,,c\n", Given{}, [][]string{{"a", "b", "c"}, {"a", "", "c"}, {"a", "", "c"}}},

	// bug streams-files-parser 38: Polars #10585, #14235, rows behind a malformed one were cut off in silence
	{
		"unclosed quote", "a,b\n1,\"x\n2,y\n3,z\n",
		Given{},
		[][]string{{"a", "b"}, {"!unterminated quoted field opened at line 2: no closing quote before the end of the file"}, {"2", "y"}, {"3", "z"}},
	},
	{
		"unclosed quote in a row that began on another line", "a,b,c\r\n\"1\r\n1\",\"x,2\r\n2,y,z",
		Given{},
		[][]string{{"a", "b", "c"}, {"!unterminated quoted field opened at line 3: no closing quote before the end of the file"}, {"2", "y", "z"}},
	},
	{
		"unclosed quote, a quoted field follows", "a,b\n1,\"x\n2,y\n3,\"z\"\n4,w\n",
		Given{},
		[][]string{{"a", "b"}, {"!unterminated quoted field opened at line 2: a field of line 4 opens with a quote before a closing one"}, {"2", "y"}, {"3", "z"}, {"4", "w"}},
	},
	{
		"unclosed quote, a quoted field follows at the start of a line", "a,b\r\n1,\"x\r\n2,y\r\n\"\"\"z\"\"\",3\r\n",
		Given{},
		[][]string{{"a", "b"}, {"!unterminated quoted field opened at line 2: a field of line 4 opens with a quote before a closing one"}, {"2", "y"}, {`"z"`, "3"}},
	},
	{
		"unclosed quotes on every line", "a,b\n1,\"x\n2,\"y\n3,\"\n4,w\n",
		Given{},
		[][]string{
			{"a", "b"},
			{"!unterminated quoted field opened at line 2: a field of line 3 opens with a quote before a closing one"},
			{"2", "y\n3,"},
			{"4", "w"},
		},
	},
	{
		"unclosed quote, delimiters of two characters", "a||b\n1||\"x\n3|\"z\"||y\n4||\"w\"\n",
		Given{Delimiter: "||"},
		[][]string{{"a", "b"}, {"1", "x\n3|z\"", "y"}, {"4", "w"}},
	},
	{
		"unclosed quote, delimiters of two characters and a field that opens", "a||b\n1||\"x\n3||\"z\"\n",
		Given{Delimiter: "||"},
		[][]string{{"a", "b"}, {"!unterminated quoted field opened at line 2: a field of line 3 opens with a quote before a closing one"}, {"3", "z"}},
	},
	{"a quote inside a text of two lines", "a,b\n\"x\nsaid \"yes\" to y\",1\n2,3\n", Given{}, [][]string{{"a", "b"}, {"x\nsaid yes\" to y\"", "1"}, {"2", "3"}}},
	{"a quote behind a comma of the same line", "a,b\n\"x,\"y,1\n2,3\n", Given{}, [][]string{{"a", "b"}, {"x,y", "1"}, {"2", "3"}}},
	{"blanks behind a closing quote on a line of its own", "a,b\n\"x\n\" ,1\n\"y,\n\"\t,2\n", Given{}, [][]string{{"a", "b"}, {"x\n ", "1"}, {"y,\n\t", "2"}}},
	{"unclosed quote in the last line", "a\n\"x", Given{}, [][]string{{"a"}, {"!unterminated quoted field opened at line 2: no closing quote before the end of the file"}}},
	{"unclosed quote is all there is", "\"", Given{}, [][]string{{"!unterminated quoted field opened at line 1: no closing quote before the end of the file"}}},

	{"backslash without escape", `a,b` + "\n" + `"x\",y` + "\n", Given{}, [][]string{{"a", "b"}, {`x\`, "y"}}},
	{"escaped quote", `a,b` + "\n" + `"x\"y",z` + "\n", Given{Escape: `\`}, [][]string{{"a", "b"}, {`x"y`, "z"}}},
	{"doubling under an escape", `a,b` + "\n" + `"x""y\"",z` + "\n", Given{Escape: `\`}, [][]string{{"a", "b"}, {`x"y"`, "z"}}},
	{"an escape takes the next byte as it is", `a,b` + "\n" + `"x\n\\",\,\` + "\n" + `y` + "\n", Given{Escape: `\`}, [][]string{{"a", "b"}, {`xn\`, ",\ny"}}},
	{"an escape takes a CRLF", "a,b\r\nx\\\r\ny,z\r\n", Given{Escape: `\`}, [][]string{{"a", "b"}, {"x\r\ny", "z"}}},
	{"an escape at the end", `a,b` + "\n" + `1,\`, Given{Escape: `\`}, [][]string{{"a", "b"}, {"1", `\`}}},
	{"an escape that is the quote", "a,b\n\"x\"\"y\",z\n", Given{Escape: `"`}, [][]string{{"a", "b"}, {`x"y`, "z"}}},
	{"blank before a quote", "a,b,c\na, \"b, c\"\n", Given{}, [][]string{{"a", "b", "c"}, {"a", ` "b`, ` c"`}}},
	{"NUL", "a,b\n\x00,\"x\x00\"\n", Given{}, [][]string{{"a", "b"}, {"\x00", "x\x00"}}},

	// bug streams-files-parser 34: DuckDB #15143, #15783, #15959
	{"LF and CRLF", "a,b\r\n1,2\n3,4\r\n5,6", Given{}, [][]string{{"a", "b"}, {"1", "2"}, {"3", "4"}, {"5", "6"}}},
	{"a CR alone is text", "a,b\n1,2\r3,4\n5,\r6\n", Given{}, [][]string{{"a", "b"}, {"1", "2\r3", "4"}, {"5", "\r6"}}},
	{"a CR alone is text, CRLF", "a,b\r\n1,2\r3\r\n5,6\r\r\n", Given{}, [][]string{{"a", "b"}, {"1", "2\r3"}, {"5", "6\r"}}},
	{"CR", "a,b\r1,2\r3,4\r", Given{}, [][]string{{"a", "b"}, {"1", "2"}, {"3", "4"}}},
	{"CR, an LF in quotes", "a,b\r\"x\ny\",2\r3,4", Given{}, [][]string{{"a", "b"}, {"x\ny", "2"}, {"3", "4"}}},
	{"LF, a CR in quotes", "a,\"b\r\"\n1,2\n", Given{}, [][]string{{"a", "b\r"}, {"1", "2"}}},
	{"any end", "a,b\r\n1,2\r3,4\n5,6\r\r\n7,8\n\r", Given{End: "\r\n"}, [][]string{{"a", "b"}, {"1", "2"}, {"3", "4"}, {"5", "6"}, {"7", "8"}}},
	{"exactly LF", "a,b\r\n1,2\n", Given{End: "\n"}, [][]string{{"a", "b\r"}, {"1", "2"}}},
	{"exactly CR", "a,b\r\n1,2\r", Given{End: "\r"}, [][]string{{"a", "b"}, {"\n1", "2"}}},
	{"record separator", "a,b\x1e1,2\n\x1e\x1e3,4", Given{End: "\x1e"}, [][]string{{"a", "b"}, {"1", "2\n"}, {"3", "4"}}},
	{"last line without an end", "a,b\n1,2", Given{}, [][]string{{"a", "b"}, {"1", "2"}}},
	{"last field empty", "a,b\n1,", Given{}, [][]string{{"a", "b"}, {"1", ""}}},
	{"Ctrl-Z on a line of its own", "a,b\n1,2\n\x1a", Given{}, [][]string{{"a", "b"}, {"1", "2"}}},
	{"Ctrl-Z behind the last field", "a,b\n1,2\x1a", Given{}, [][]string{{"a", "b"}, {"1", "2"}}},
	{"Ctrl-Z behind a closing quote", "a,b\n1,\"2\"\x1a", Given{}, [][]string{{"a", "b"}, {"1", "2"}}},
	{"one Ctrl-Z goes, another is text", "a,b\n1,\x1a2\n\x1a\x1a", Given{}, [][]string{{"a", "b"}, {"1", "\x1a2"}, {"\x1a"}}},

	{"sep=", "sep=;\na;b\n1,5;2\n", Given{}, [][]string{{"a", "b"}, {"1,5", "2"}}},
	{"sep=, CRLF and capitals", "SEP=|\r\na|b\r\n1,5|2\r\n", Given{}, [][]string{{"a", "b"}, {"1,5", "2"}}},
	{"sep=, CR", "sep=\t\ra\tb\r1,5\t2", Given{}, [][]string{{"a", "b"}, {"1,5", "2"}}},
	{"sep= and nothing else", "sep=;", Given{}, nil},
	{"sep= does not win over the configuration", "sep=;\na,b\n1,2;3\n", Given{Delimiter: ","}, [][]string{{"a", "b"}, {"1", "2;3"}}},
	{"sep= wins over what is usual", "sep=;\na;b\n1\t;2\n", Given{Usual: "\t"}, [][]string{{"a", "b"}, {"1\t", "2"}}},
	{"sep= is a name, too", "sep=x,b\n1,2\n", Given{}, [][]string{{"sep=x", "b"}, {"1", "2"}}},
	{"sep= in another line is a row", "a,b\nsep=;\n", Given{}, [][]string{{"a", "b"}, {"sep=;"}}},

	{"# is text", "a,b\n#1,2\n", Given{}, [][]string{{"a", "b"}, {"#1", "2"}}},
	{"comments", "#x\na,b\n#\"y\n1,#2\n##\n\n#z", Given{Comment: "#"}, [][]string{{"a", "b"}, {"1", "#2"}}},
	{"comments of two characters, CRLF", "//x\r\na,b\r\n/1,2\r\n//y\r\n\"//3\",4\r\n", Given{Comment: "//"}, [][]string{{"a", "b"}, {"/1", "2"}, {"//3", "4"}}},

	{"TSV with quotes", "a\tb\n\"x\ty\"\tz\n", Given{Delimiter: "\t"}, [][]string{{"a", "b"}, {"x\ty", "z"}}},
	{"TSV without quotes", "a\tb\n\"x\ty\"\n", Given{Delimiter: "\t", Quote: option("")}, [][]string{{"a", "b"}, {`"x`, `y"`}}},
	{"no quote, and an unclosed one", "a,b\n\"x,y\n", Given{Quote: option("")}, [][]string{{"a", "b"}, {`"x`, "y"}}},
	// bug streams-files-parser 48: Airbyte, the delimiter given as the two characters \t
	{"delimiter written as backslash t", "a\tb\n1,5\t2\n", Given{Delimiter: `\t`}, [][]string{{"a", "b"}, {"1,5", "2"}}},
	{"delimiter written as tab", "a\tb\n1,5\t2\n", Given{Delimiter: "tab"}, [][]string{{"a", "b"}, {"1,5", "2"}}},
	{"delimiter of two characters", "a||b||c\n1|2||\"x||y\"||\n||||3|\n", Given{Delimiter: "||"}, [][]string{{"a", "b", "c"}, {"1|2", "x||y", ""}, {"", "", "3|"}}},
	{"delimiter that is not ASCII", "a§b\n\"x§y\"§£2\n", Given{Delimiter: "§"}, [][]string{{"a", "b"}, {"x§y", "£2"}}},
	{"unit separator", "a\x1fb\n1\x1f2\n", Given{Delimiter: "\x1f"}, [][]string{{"a", "b"}, {"1", "2"}}},
	{"another quote", "a,b\n'x,''y''','z'\n\"1,2\"\n", Given{Quote: option("'")}, [][]string{{"a", "b"}, {"x,'y'", "z"}, {`"1`, `2"`}}},
	{"bytes that are not ASCII", "é,ü\n\"日本\",\xff\xfe\n", Given{}, [][]string{{"é", "ü"}, {"日本", "\xff\xfe"}}},
	{"one column", "a\n1\n2\n", Given{}, [][]string{{"a"}, {"1"}, {"2"}}},
}

func TestScanner_Grammar(t *testing.T) {
	for _, c := range grammar {
		t.Run(c.name, func(t *testing.T) {
			if got := read(t, c.text, c.given, Options{}); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%q:\n got %q\nwant %q", c.text, got, c.want)
			}
		})
	}
}

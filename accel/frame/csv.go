package frame

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/internal/atomicfile"
)

// Option changes how [CSV] and [ReadCSV] read a file.
type Option struct{ setting }

type setting = option.Of[csvFormat]

// csvFormat is how a CSV file is read.
type csvFormat struct {
	separator byte // 0: detected in the first line
	missing   []string
	names     []string // of the columns of a file without a header
	noHeader  bool
	only      []string
	forced    map[string]forcedType
	others    *forcedType // of the columns that forced does not name; may be nil
	comma     bool        // for decimals
}

// forcedType is the type of a column that is not derived from its values.
type forcedType struct {
	kind     Type
	layout   string // of times; empty for ISO 8601
	required bool   // values that are missing or not finite are errors
}

// force sets the type of columns, or without names of all that have none of their own.
func (f *csvFormat) force(t forcedType, columns []string) {
	if len(columns) == 0 {
		f.others = &t
	}
	for _, name := range columns {
		f.forced[name] = t
	}
}

// Separator sets the character between two fields. Without it the first line decides: a comma if
// it has one, otherwise the most frequent of semicolon, tab and vertical bar.
func Separator(separator byte) Option {
	return Option{option.New(func(f *csvFormat) { f.separator = separator }, "Separator", option.Code(strconv.QuoteRune(rune(separator)))).
		Require(separator != '"' && separator != '\n' && separator != '\r' && separator < 0x80, "the character cannot separate fields")}
}

// Missing adds words that stand for a missing value, such as "?" or "-999".
func Missing(words ...string) Option {
	return Option{option.New(func(f *csvFormat) { f.missing = append(f.missing, words...) }, "Missing", option.Each(words)...)}
}

// NoHeader says that the first line has values, and names the columns. Without names the columns
// are named "column 1", "column 2" and so on.
func NoHeader(names ...string) Option {
	return Option{option.New(func(f *csvFormat) { f.noHeader, f.names = true, slices.Clone(names) }, "NoHeader", option.Each(names)...)}
}

// Only reads only these columns.
func Only(columns ...string) Option {
	return Option{option.New(func(f *csvFormat) { f.only = append(f.only, columns...) }, "Only", option.Each(columns)...)}
}

// As sets the type of columns instead of deriving it from their values. A value of another type is
// a [*FileError]. Without names, it is the type of all columns that no other option names.
func As(t Type, columns ...string) Option {
	return Option{option.New(func(f *csvFormat) { f.force(forcedType{kind: t}, columns) }, "As", append([]any{t}, option.Each(columns)...)...)}
}

// Required is [As] for columns whose values a model needs: a missing value is a [*FileError], and so is a
// number that is infinite or too large for float32. data.CSV reads files in this way.
func Required(t Type, columns ...string) Option {
	return Option{option.New(func(f *csvFormat) { f.force(forcedType{kind: t, required: true}, columns) }, "Required", append([]any{t}, option.Each(columns)...)...)}
}

// Layout reads columns as times in a layout of package time, such as "02.01.2006 15:04". A value in
// another layout is a [*FileError].
func Layout(layout string, columns ...string) Option {
	return Option{option.New(func(f *csvFormat) {
		for _, name := range columns {
			f.forced[name] = forcedType{kind: Time, layout: layout}
		}
	}, "Layout", append([]any{layout}, option.Each(columns)...)...)}
}

// DecimalComma reads numbers with a comma before the fraction, such as 3,14.
func DecimalComma() Option {
	return Option{option.New(func(f *csvFormat) { f.comma = true }, "DecimalComma")}
}

// missingWords are read as missing values, unless they are quoted; pandas has the same list.
var missingWords = []string{"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}

// CSV is [ReadCSV] for a file.
func CSV(path string, options ...Option) (*Frame, error) {
	return readFile(path, func(r io.Reader) (*Frame, error) { return ReadCSV(r, options...) })
}

// ReadCSV reads a table in CSV format (RFC 4180), in UTF-8, and uncompressed or compressed with gzip or bzip2.
// The first line has the names of the columns. Space around fields without quotes, and empty lines, are ignored.
//
// The values decide the type of a column: int if all are whole numbers in plain notation, float if
// all are numbers, bool if all are true or false (or True, TRUE, …), time if all are dates or times in the
// format of ISO 8601 (2006-01-02, 2006-01-02 15:04:05.9, 2006-01-02T15:04:05Z), and otherwise text. Numbers that
// would lose something are text: with leading zeros, such as postal codes, or integers beyond the range of int.
// [As] and [Layout] set the type instead.
//
// An empty field is a missing value, and so are the words NA, N/A, NaN, null, None and the others that pandas
// accepts, unless they are quoted; [Missing] adds others.
//
// Invalid content is a [*FileError]: a line with more or fewer fields than the first one, a quotation
// mark that is not closed, doubled, or at the start of the field, or bytes that are no UTF-8.
//
// ReadCSV keeps the whole file in memory and uses all cores.
func ReadCSV(r io.Reader, options ...Option) (*Frame, error) {
	format := &csvFormat{missing: slices.Clone(missingWords), forced: map[string]forcedType{}}
	if err := option.Apply("frame.ReadCSV", format, options, "Separator", "Missing", "NoHeader", "Only", "As", "Required", "Layout", "DecimalComma"); err != nil {
		return nil, err
	}
	data, err := content(r)
	if err != nil {
		return nil, readError("CSV", err)
	}
	file, err := newCSVFile(data, format)
	if err != nil {
		return nil, err
	}
	return file.read()
}

// WriteCSV writes the frame to a file in CSV format, with the names of the columns in the first
// line. The file is replaced when everything has been written, so it never has only a part. See
// [Frame.FormatCSV].
func (f *Frame) WriteCSV(path string) error {
	if err := atomicfile.Replace(path, f.FormatCSV); err != nil {
		return fmt.Errorf("frame: writing CSV: %w", err)
	}
	return nil
}

// FormatCSV writes the frame in CSV format to w. [ReadCSV] reads the same values from it, except that an empty text
// is read as missing, that floats which are all whole numbers are read as ints, and that a column of text may be
// read as another type if all its values look like it; [As] sets the types.
func (f *Frame) FormatCSV(w io.Writer) error {
	out := bufio.NewWriter(w)
	missing := newMissingSet(missingWords)
	line := make([]string, len(f.all()))
	var text []byte
	end := func() error {
		if len(line) == 1 && line[0] == "" {
			line[0] = `""` // ReadCSV ignores empty lines
		}
		text = text[:0]
		for k, field := range line {
			if k > 0 {
				text = append(text, ',')
			}
			text = append(text, field...)
		}
		_, err := out.Write(append(text, '\n'))
		return err
	}
	for k, name := range f.Columns() {
		line[k] = quotedText(name, missing)
	}
	if err := end(); err != nil {
		return err
	}
	for i := range f.Len() {
		for k, c := range f.all() {
			line[k] = c.Format(i)
			if c.Type() == Text {
				line[k] = quotedText(line[k], missing)
			}
		}
		if err := end(); err != nil {
			return err
		}
	}
	return out.Flush()
}

// quotedText returns a field of a CSV file with a text, in quotation marks if it would be read as another one without them.
func quotedText(s string, missing *missingSet) string {
	if s == "" || !strings.ContainsAny(s, ",\"\r\n") && strings.TrimSpace(s) == s && !missing.has([]byte(s)) {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

package frame

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/quernlab/quern/internal/atomicfile"
)

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
	line := make([]string, len(f.columns))
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
		line[k] = quotedText(name, &missing)
	}
	if err := end(); err != nil {
		return err
	}
	for i := range f.rows {
		for k, c := range f.columns {
			line[k] = c.Format(i)
			if c.Type() == Text {
				line[k] = quotedText(line[k], &missing)
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

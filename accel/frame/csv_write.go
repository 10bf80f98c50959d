package frame

import (
	"encoding/csv"
	"fmt"
	"io"

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
	out := csv.NewWriter(w)
	if err := out.Write(f.Columns()); err != nil {
		return err
	}
	line := make([]string, len(f.columns))
	for i := range f.rows {
		for k, c := range f.columns {
			line[k] = c.Format(i)
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

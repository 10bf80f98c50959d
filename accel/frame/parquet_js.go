package frame

import (
	"errors"
	"io"
)

// errNoParquet replaces the reader of Parquet files, which is a tenth of a program that browsers download.
var errNoParquet = errors.New("the kernel in a browser does not read Parquet files: convert the file to Arrow or CSV")

// Parquet returns an error: the kernel in a browser does not read Parquet files.
func Parquet(string, ...string) (*Frame, error) { return nil, errNoParquet }

// ReadParquet returns an error: the kernel in a browser does not read Parquet files.
func ReadParquet(io.ReaderAt, int64, ...string) (*Frame, error) { return nil, errNoParquet }

// WriteParquet returns an error: the kernel in a browser does not write Parquet files.
func (f *Frame) WriteParquet(string) error { return errNoParquetWriter }

// FormatParquet returns an error: the kernel in a browser does not write Parquet files.
func (f *Frame) FormatParquet(io.Writer) error { return errNoParquetWriter }

var errNoParquetWriter = errors.New("the kernel in a browser does not write Parquet files: write an Arrow or CSV file")

package compiled

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
)

// AssignColumn assigns the value of a column to the variable that dest points to, as Rows.Scan of package database/sql does.
func AssignColumn(dest, value any) error {
	db := sql.OpenDB(oneValue{value})
	defer db.Close()
	err := db.QueryRow("").Scan(dest)
	if inner := errors.Unwrap(err); inner != nil {
		return inner // without the number of the column
	}
	return err
}

// oneValue is a database whose only table has one row of one column.
type oneValue struct{ value any }

func (o oneValue) Connect(context.Context) (driver.Conn, error) { return o, nil }
func (o oneValue) Driver() driver.Driver                        { return nil }
func (o oneValue) Prepare(string) (driver.Stmt, error)          { return o, nil }
func (o oneValue) Begin() (driver.Tx, error)                    { return nil, errors.ErrUnsupported }
func (o oneValue) Close() error                                 { return nil }
func (o oneValue) NumInput() int                                { return 0 }
func (o oneValue) Exec([]driver.Value) (driver.Result, error)   { return nil, errors.ErrUnsupported }
func (o oneValue) Query([]driver.Value) (driver.Rows, error)    { return &oneRow{value: o.value}, nil }

type oneRow struct {
	value any
	read  bool
}

func (r *oneRow) Columns() []string { return []string{""} }
func (r *oneRow) Close() error      { return nil }

func (r *oneRow) Next(dest []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read = true
	dest[0] = r.value
	return nil
}

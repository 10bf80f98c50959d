package interp_test

import "testing"

// Package database/sql finds the optional methods of a driver that cells declare, and does without
// them as for a compiled driver.
func TestDatabaseDriver(t *testing.T) {
	t.Parallel()
	n := newNotebook(t)
	n.must(t, `import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

type plainDriver struct{}

func (plainDriver) Open(name string) (driver.Conn, error) { return &conn{name}, nil }

type conn struct{ name string }

func (c *conn) Prepare(text string) (driver.Stmt, error) { return stmt{text}, nil }
func (c *conn) Close() error                             { return nil }
func (c *conn) Begin() (driver.Tx, error)                { return nil, errors.New("no transactions") }

type stmt struct{ text string }

func (s stmt) Close() error                                    { return nil }
func (s stmt) NumInput() int                                   { return -1 }
func (s stmt) Exec(args []driver.Value) (driver.Result, error) { return driver.RowsAffected(len(args)), nil }
func (s stmt) Query(args []driver.Value) (driver.Rows, error)  { return &rows{values: args}, nil }

type rows struct{ values []driver.Value }

func (r *rows) Columns() []string { return []string{"v"} }
func (r *rows) Close() error      { return nil }
func (r *rows) Next(out []driver.Value) error {
	if len(r.values) == 0 {
		return io.EOF
	}
	out[0], r.values = r.values[0], r.values[1:]
	return nil
}

type fullDriver struct{ plainDriver }

func (fullDriver) OpenConnector(name string) (driver.Connector, error) { return connector{name}, nil }

type connector struct{ name string }

func (c connector) Connect(context.Context) (driver.Conn, error) { return &fullConn{conn{c.name}}, nil }
func (c connector) Driver() driver.Driver                        { return fullDriver{} }
func (c connector) Close() error                                 { fmt.Println("closed"); return nil }

type fullConn struct{ conn }

func (c *fullConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	if text == "skip" {
		return nil, driver.ErrSkip
	}
	return &fullRows{rows{[]driver.Value{text, args[0].Value, args[0].Name}}}, nil
}
func (c *fullConn) CheckNamedValue(v *driver.NamedValue) error { v.Value = fmt.Sprint("checked ", v.Value); return nil }
func (c *fullConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return nil, fmt.Errorf("isolation %d, read-only %t", o.Isolation, o.ReadOnly)
}
func (c *fullConn) Ping(context.Context) error { return errors.New("no answer") }

type fullRows struct{ rows }

func (r *fullRows) ColumnTypeDatabaseTypeName(i int) string { return "ANY" }
func (r *fullRows) ColumnTypePrecisionScale(i int) (int64, int64, bool) { return 3, 2, true }

func open(name string) *sql.DB {
	db, err := sql.Open(name, "test")
	if err != nil {
		panic(err)
	}
	return db
}

func query(db *sql.DB, text string, args ...any) (out []string) {
	r, err := db.Query(text, args...)
	if err != nil {
		return []string{err.Error()}
	}
	types, _ := r.ColumnTypes()
	precision, scale, ok := types[0].DecimalSize()
	out = append(out, fmt.Sprint(types[0].DatabaseTypeName(), precision, scale, ok, r.NextResultSet()))
	r, _ = db.Query(text, args...)
	for r.Next() {
		var s string
		r.Scan(&s)
		out = append(out, s)
	}
	return out
}

sql.Register("plain", plainDriver{})
sql.Register("full", fullDriver{})`, "")
	for _, row := range []struct{ in, want string }{
		{`query(open("plain"), "text", 1, "a")`, `= [0 0 false false 1 a]`},
		{`query(open("plain"), "text", sql.Named("n", 1))`, `= [sql: driver does not support the use of Named Parameters]`},
		{`_, err := open("plain").BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})` + "\nerr.Error()", `= "sql: driver does not support read-only transactions"`},
		{`open("plain").Ping(), open("plain").Close()`, `= <nil>, <nil>`},
		{`query(open("full"), "text", sql.Named("n", 1))`, `= [ANY3 2 true false text checked 1 n]`},
		{`query(open("full"), "skip", 1)`, `= [0 0 false false checked 1]`},
		{`_, err := open("full").BeginTx(context.Background(), &sql.TxOptions{Isolation: sql.LevelSerializable, ReadOnly: true})` + "\nerr.Error()", `= "isolation 6, read-only true"`},
		{`open("full").Ping().Error(), open("full").Close()`, "closed\n= \"no answer\", <nil>"},
	} {
		n.must(t, row.in, row.want)
	}
}

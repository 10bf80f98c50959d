package rt

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"reflect"
)

// Package database/sql looks for optional methods of the values of a driver. A wrapper has all of them and does, for a type
// without one, what the package does then. There are several wrappers where that depends on whether the method exists.

func (r *representations) addDriverWrappers() {
	r.AddWrapper(reflect.TypeFor[driver.Driver](), func(b Box) any { return sqlDriver{b} })
	r.AddWrapper(reflect.TypeFor[driver.Connector](), func(b Box) any { return sqlConnector{b} })
	r.AddWrapper(reflect.TypeFor[driver.Conn](), wrapConn)
	r.AddWrapper(reflect.TypeFor[driver.Stmt](), wrapStmt)
	r.AddWrapper(reflect.TypeFor[driver.Rows](), func(b Box) any { return sqlRows{b} })
}

// has reports whether the type of b has a method with the signature of M.
func has[M any](b Box, name string) bool {
	return b.T.set.Load().hasSignature(name, reflect.TypeFor[M]().String())
}

type sqlDriver struct{ Box }

func (d sqlDriver) Open(name string) (driver.Conn, error) {
	return call1x2[driver.Conn, error](d.Box, "Open", name)
}

// OpenConnector implements driver.DriverContext.
func (d sqlDriver) OpenConnector(name string) (driver.Connector, error) {
	if has[func(string) (driver.Connector, error)](d.Box, "OpenConnector") {
		return call1x2[driver.Connector, error](d.Box, "OpenConnector", name)
	}
	return nameConnector{name, d}, nil
}

// nameConnector connects by a driver without OpenConnector.
type nameConnector struct {
	name   string
	driver sqlDriver
}

func (c nameConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.name) }
func (c nameConnector) Driver() driver.Driver                        { return c.driver }

type sqlConnector struct{ Box }

func (c sqlConnector) Connect(ctx context.Context) (driver.Conn, error) {
	return call1x2[driver.Conn, error](c.Box, "Connect", ctx)
}
func (c sqlConnector) Driver() driver.Driver { return call0[driver.Driver](c.Box, "Driver") }

// Close implements io.Closer.
func (c sqlConnector) Close() error {
	if has[func() error](c.Box, "Close") {
		return call0[error](c.Box, "Close")
	}
	return nil
}

type sqlRows struct{ Box }

func (r sqlRows) Columns() []string                { return call0[[]string](r.Box, "Columns") }
func (r sqlRows) Close() error                     { return call0[error](r.Box, "Close") }
func (r sqlRows) Next(values []driver.Value) error { return call1[error](r.Box, "Next", values) }

// HasNextResultSet implements driver.RowsNextResultSet.
func (r sqlRows) HasNextResultSet() bool {
	return has[func() bool](r.Box, "HasNextResultSet") && has[func() error](r.Box, "NextResultSet") && call0[bool](r.Box, "HasNextResultSet")
}

// NextResultSet implements driver.RowsNextResultSet.
func (r sqlRows) NextResultSet() error {
	if has[func() bool](r.Box, "HasNextResultSet") && has[func() error](r.Box, "NextResultSet") {
		return call0[error](r.Box, "NextResultSet")
	}
	return io.EOF
}

// ColumnTypeScanType implements driver.RowsColumnTypeScanType.
func (r sqlRows) ColumnTypeScanType(i int) reflect.Type {
	if has[func(int) reflect.Type](r.Box, "ColumnTypeScanType") {
		return call1[reflect.Type](r.Box, "ColumnTypeScanType", i)
	}
	return reflect.TypeFor[any]()
}

// ColumnTypeDatabaseTypeName implements driver.RowsColumnTypeDatabaseTypeName.
func (r sqlRows) ColumnTypeDatabaseTypeName(i int) string {
	if has[func(int) string](r.Box, "ColumnTypeDatabaseTypeName") {
		return call1[string](r.Box, "ColumnTypeDatabaseTypeName", i)
	}
	return ""
}

// ColumnTypeLength implements driver.RowsColumnTypeLength.
func (r sqlRows) ColumnTypeLength(i int) (int64, bool) {
	if has[func(int) (int64, bool)](r.Box, "ColumnTypeLength") {
		return call1x2[int64, bool](r.Box, "ColumnTypeLength", i)
	}
	return 0, false
}

// ColumnTypeNullable implements driver.RowsColumnTypeNullable.
func (r sqlRows) ColumnTypeNullable(i int) (nullable, ok bool) {
	if has[func(int) (bool, bool)](r.Box, "ColumnTypeNullable") {
		return call1x2[bool, bool](r.Box, "ColumnTypeNullable", i)
	}
	return false, false
}

// ColumnTypePrecisionScale implements driver.RowsColumnTypePrecisionScale.
func (r sqlRows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	if has[func(int) (int64, int64, bool)](r.Box, "ColumnTypePrecisionScale") {
		out := r.method("ColumnTypePrecisionScale").call(r.Box, reflect.ValueOf(i))
		return result[int64](out, 0), result[int64](out, 1), result[bool](out, 2)
	}
	return 0, 0, false
}

type (
	namedQuery[R any] = func(context.Context, string, []driver.NamedValue) (R, error)
	query[R any]      = func(string, []driver.Value) (R, error)
	namedStmt[R any]  = func(context.Context, []driver.NamedValue) (R, error)
	checkValue        = func(*driver.NamedValue) error
)

// runQuery calls the method name of b with a context, or the method old of an older interface without one.
func runQuery[R any](b Box, name, old string, ctx context.Context, text string, args []driver.NamedValue) (R, error) {
	if has[namedQuery[R]](b, name) {
		m := b.method(name)
		if f, ok := m.function.(func(any, context.Context, string, []driver.NamedValue) (R, error)); ok {
			return f(b.V, ctx, text, args)
		}
		out := m.call(b, argument(&ctx), argument(&text), argument(&args))
		return result[R](out, 0), result[error](out, 1)
	}
	values, err := unnamed(ctx, args)
	if err != nil {
		var none R
		return none, err
	}
	return call2x2[R, error](b, old, text, values)
}

// runStmt calls the method name of b with a context, or the method old without one.
func runStmt[R any](b Box, name, old string, ctx context.Context, args []driver.NamedValue) (R, error) {
	if has[namedStmt[R]](b, name) {
		return call2x2[R, error](b, name, ctx, args)
	}
	values, err := unnamed(ctx, args)
	if err != nil {
		var none R
		return none, err
	}
	return call1x2[R, error](b, old, values)
}

// unnamed returns the values of arguments that have no names.
func unnamed(ctx context.Context, args []driver.NamedValue) ([]driver.Value, error) {
	values := make([]driver.Value, len(args))
	for i, a := range args {
		if a.Name != "" {
			return nil, errors.New("sql: driver does not support the use of Named Parameters")
		}
		values[i] = a.Value
	}
	return values, ctx.Err()
}

// wrapStmt wraps a prepared statement.
func wrapStmt(b Box) any {
	checks := has[checkValue](b, "CheckNamedValue")
	converts := has[func(int) driver.ValueConverter](b, "ColumnConverter")
	s := sqlStmt{b}
	switch {
	case checks && converts:
		return struct {
			sqlStmt
			valueChecker
			columnConverter
		}{s, valueChecker{b}, columnConverter{b}}
	case checks:
		return struct {
			sqlStmt
			valueChecker
		}{s, valueChecker{b}}
	case converts:
		return struct {
			sqlStmt
			columnConverter
		}{s, columnConverter{b}}
	}
	return s
}

type sqlStmt struct{ Box }

func (s sqlStmt) Close() error  { return call0[error](s.Box, "Close") }
func (s sqlStmt) NumInput() int { return call0[int](s.Box, "NumInput") }
func (s sqlStmt) Exec(args []driver.Value) (driver.Result, error) {
	return call1x2[driver.Result, error](s.Box, "Exec", args)
}
func (s sqlStmt) Query(args []driver.Value) (driver.Rows, error) {
	return call1x2[driver.Rows, error](s.Box, "Query", args)
}

// ExecContext implements driver.StmtExecContext.
func (s sqlStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return runStmt[driver.Result](s.Box, "ExecContext", "Exec", ctx, args)
}

// QueryContext implements driver.StmtQueryContext.
func (s sqlStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return runStmt[driver.Rows](s.Box, "QueryContext", "Query", ctx, args)
}

// The following types have a method that a wrapper has only if the type of the box has it. The name of the box differs from Box,
// which a wrapper has already.

type valueChecker struct{ checker Box }

func (c valueChecker) CheckNamedValue(v *driver.NamedValue) error {
	return call1[error](c.checker, "CheckNamedValue", v)
}

type columnConverter struct{ converter Box }

func (c columnConverter) ColumnConverter(i int) driver.ValueConverter {
	return call1[driver.ValueConverter](c.converter, "ColumnConverter", i)
}

type execer struct{ execer Box }

func (e execer) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	return runQuery[driver.Result](e.execer, "ExecContext", "Exec", ctx, text, args)
}

type queryer struct{ queryer Box }

func (q queryer) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	return runQuery[driver.Rows](q.queryer, "QueryContext", "Query", ctx, text, args)
}

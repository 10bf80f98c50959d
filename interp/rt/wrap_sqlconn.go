package rt

import (
	"context"
	"database/sql/driver"
	"errors"
)

// wrapConn wraps a connection to a database.
func wrapConn(b Box) any {
	executes := has[namedQuery[driver.Result]](b, "ExecContext") || has[query[driver.Result]](b, "Exec")
	queries := has[namedQuery[driver.Rows]](b, "QueryContext") || has[query[driver.Rows]](b, "Query")
	c, e, q, v := sqlConn{b}, execer{b}, queryer{b}, valueChecker{b}
	if has[checkValue](b, "CheckNamedValue") {
		switch {
		case executes && queries:
			return struct {
				sqlConn
				execer
				queryer
				valueChecker
			}{c, e, q, v}
		case executes:
			return struct {
				sqlConn
				execer
				valueChecker
			}{c, e, v}
		case queries:
			return struct {
				sqlConn
				queryer
				valueChecker
			}{c, q, v}
		}
		return struct {
			sqlConn
			valueChecker
		}{c, v}
	}
	switch {
	case executes && queries:
		return struct {
			sqlConn
			execer
			queryer
		}{c, e, q}
	case executes:
		return struct {
			sqlConn
			execer
		}{c, e}
	case queries:
		return struct {
			sqlConn
			queryer
		}{c, q}
	}
	return c
}

type sqlConn struct{ Box }

func (c sqlConn) Prepare(text string) (driver.Stmt, error) {
	return call1x2[driver.Stmt, error](c.Box, "Prepare", text)
}
func (c sqlConn) Close() error              { return call0[error](c.Box, "Close") }
func (c sqlConn) Begin() (driver.Tx, error) { return call0x2[driver.Tx, error](c.Box, "Begin") }

// PrepareContext implements driver.ConnPrepareContext.
func (c sqlConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	if has[func(context.Context, string) (driver.Stmt, error)](c.Box, "PrepareContext") {
		return call2x2[driver.Stmt, error](c.Box, "PrepareContext", ctx, text)
	}
	s, err := c.Prepare(text)
	if err == nil && ctx.Err() != nil {
		_ = s.Close()
		return nil, ctx.Err()
	}
	return s, err
}

// BeginTx implements driver.ConnBeginTx.
func (c sqlConn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	if has[func(context.Context, driver.TxOptions) (driver.Tx, error)](c.Box, "BeginTx") {
		return call2x2[driver.Tx, error](c.Box, "BeginTx", ctx, options)
	}
	switch {
	case options.Isolation != 0:
		return nil, errors.New("sql: driver does not support non-default isolation level")
	case options.ReadOnly:
		return nil, errors.New("sql: driver does not support read-only transactions")
	}
	tx, err := c.Begin()
	if err == nil && ctx.Err() != nil {
		_ = tx.Rollback()
		return nil, ctx.Err()
	}
	return tx, err
}

// Ping implements driver.Pinger.
func (c sqlConn) Ping(ctx context.Context) error {
	if has[func(context.Context) error](c.Box, "Ping") {
		return call1[error](c.Box, "Ping", ctx)
	}
	return nil
}

// ResetSession implements driver.SessionResetter.
func (c sqlConn) ResetSession(ctx context.Context) error {
	if has[func(context.Context) error](c.Box, "ResetSession") {
		return call1[error](c.Box, "ResetSession", ctx)
	}
	return nil
}

// IsValid implements driver.Validator.
func (c sqlConn) IsValid() bool {
	return !has[func() bool](c.Box, "IsValid") || call0[bool](c.Box, "IsValid")
}

package registration

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"sync/atomic"
)

// drivers registers drivers of package sql.
type drivers struct{ names *names }

// A replaceableDriver is registered with package sql instead of a cell's driver, to which it
// forwards.
type replaceableDriver struct{ current atomic.Pointer[driver.Driver] }

// Open implements driver.Driver.
func (d *replaceableDriver) Open(name string) (driver.Conn, error) {
	return (*d.current.Load()).Open(name)
}

// OpenConnector implements driver.DriverContext, so that the connections of a database come
// from the driver that was current when it was opened.
func (d *replaceableDriver) OpenConnector(name string) (driver.Connector, error) {
	current := *d.current.Load()
	if c, ok := current.(driver.DriverContext); ok {
		return c.OpenConnector(name)
	}
	return connector{current, name}, nil
}

// A connector opens connections of a driver that does not implement driver.DriverContext.
type connector struct {
	driver driver.Driver
	name   string
}

// Connect implements driver.Connector.
func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.name) }

// Driver implements driver.Connector.
func (c connector) Driver() driver.Driver { return c.driver }

// register is sql.Register.
func (d *drivers) register(name string, v driver.Driver) {
	if v == nil {
		sql.Register(name, v) // panics
		return
	}
	k := key{kind: "sql", name: name}
	if r, ok := d.names.earlier(k).(*replaceableDriver); ok {
		r.current.Store(&v)
		return
	}
	r := &replaceableDriver{}
	r.current.Store(&v)
	sql.Register(name, r)
	d.names.add(k, r)
}

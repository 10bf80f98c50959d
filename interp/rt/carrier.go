package rt

import (
	"container/list"
	"container/ring"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// carries returns the fields of the compiled struct t in which a Retyper replaces types: those in carriers, and the exported
// interfaces of errors, such as Err of fs.PathError.
func carries(t reflect.Type) (fields []string, ok bool) {
	if fields, ok := carriers()[t]; ok {
		return fields, true
	}
	if t.PkgPath() == "" || t.Kind() != reflect.Struct || !reflect.PointerTo(t).Implements(errorType) {
		return nil, false
	}
	for f := range t.Fields() {
		if f.IsExported() && f.Type.Kind() == reflect.Interface {
			fields = append(fields, f.Name)
		}
	}
	return fields, fields != nil
}

// carriers returns compiled structs in which a Retyper replaces types, with the fields that hold values of cells. Otherwise
// a context would not have the value of a key, and an error in a chain would not be the one that a cell compares it with.
// Other goroutines may read such fields: they see the old or the new type, and values of both have the same memory.
var carriers = sync.OnceValue(func() map[reflect.Type][]string {
	withCancel, cancel := context.WithCancel(context.Background())
	cancel()
	withDeadline, cancel := context.WithDeadline(withCancel, time.Time{})
	cancel()
	all := map[reflect.Type][]string{}
	for _, row := range []struct {
		of     any // a pointer
		fields []string
	}{
		{context.WithValue(context.Background(), &all, 0), []string{"Context", "key", "val"}},
		{withCancel, []string{"Context"}},
		{withDeadline, []string{"cancelCtx"}},
		{fmt.Errorf("%w", io.EOF), []string{"err"}},
		{fmt.Errorf("%w %w", io.EOF, io.EOF), []string{"errs"}},
		{errors.Join(io.EOF), []string{"errs"}},
		{&http.Client{}, []string{"Transport", "Jar"}},
		{&list.List{}, []string{"root"}},
		{&list.Element{}, []string{"next", "Value"}},
		{&ring.Ring{}, []string{"next", "Value"}},
		{&atomic.Value{}, []string{"v"}},
		{&sync.Map{}, nil}, // see visitSyncMap
	} {
		all[reflect.TypeOf(row.of).Elem()] = row.fields
	}
	return all
})

// visitCarrier is visit for a value of a type in carriers.
func (t *Retyper) visitCarrier(v reflect.Value, fields []string) {
	if v.Type() == reflect.TypeFor[sync.Map]() {
		if t.skipped = t.skipped || !t.maps; t.maps {
			t.visitSyncMap((*sync.Map)(unsafe.Pointer(v.UnsafeAddr())))
		}
	}
	for _, name := range fields {
		f := v.FieldByName(name)
		t.visit(reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()) // also if it is not exported
	}
}

func (t *Retyper) visitSyncMap(m *sync.Map) {
	m.Range(func(key, value any) bool {
		newKey, keyChanged := t.heldNow(key)
		newValue, valueChanged := t.heldNow(value)
		if keyChanged {
			m.Delete(key)
		}
		if keyChanged || valueChanged {
			m.Store(newKey, newValue)
		}
		return true
	})
}

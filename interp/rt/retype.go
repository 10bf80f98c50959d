package rt

import (
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/quernlab/quern/interp/named"
)

// A cell can declare a method of a type of which interface values exist. Compiled packages have asked their type for its
// methods, and the runtime remembers the answer. So values get another type then, with the same memory: box uses it from then
// on, and Retype replaces the type of existing ones.

// Retyper replaces the types of interface values that have got methods.
type Retyper struct {
	r       *Registry
	maps    bool
	skipped bool // a map, because maps is false
	seen    map[reachable]bool
	holding map[reflect.Type]bool       // see holds
	words   map[unsafe.Pointer]heldType // by the first words of interface values
	last    unsafe.Pointer              // the latest of them, since elements of a slice often have the same type
	lastIs  heldType
	next    []reflect.Value // pointers, slices, maps and channels to visit; a long linked list would need too much stack for recursion
}

// heldType says what replaces the type of an interface value.
type heldType struct {
	word unsafe.Pointer // the first word with the type of now
	raw  unsafe.Pointer // the raw type if values of it may refer to interface values, otherwise nil
}

// reachable is a part of the memory that a Retyper visits once.
type reachable struct {
	address uintptr
	typ     reflect.Type
	length  int // capacity of a slice
}

// Retype returns what replaces the types of interface values, nil if no type has got methods since the last call. maps says
// whether it may iterate over maps: no other goroutine may write to them. The first call with true also visits maps because of
// calls before it with false.
func (r *Registry) Retype(maps bool) *Retyper {
	version := r.declared.version.Load()
	done := r.declared.retyped.Swap(version) == version
	if maps {
		done = r.declared.retypedMaps.Swap(version) == version && done
	}
	if done {
		return nil
	}
	return newRetyper(r, maps)
}

func newRetyper(r *Registry, maps bool) *Retyper {
	return &Retyper{r: r, maps: maps, seen: map[reachable]bool{}, holding: map[reflect.Type]bool{}, words: map[unsafe.Pointer]heldType{}}
}

// Visit replaces types in a variable and in what it refers to. It does not look into frames of running functions, and values of
// compiled types that carries does not know, where interface values keep their type. It returns false if the variable refers to maps
// with interface values that no earlier variable refers to, and that it must not look into. The error is a *MethodsError; values of that
// type, and others behind them, keep their types then.
func (t *Retyper) Visit(variable reflect.Value) (all bool, err error) {
	t.skipped, t.next = false, nil
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *MethodsError:
			all, err = !t.skipped, p
		default:
			panic(p)
		}
	}()
	t.visit(variable)
	for len(t.next) > 0 {
		v := t.next[len(t.next)-1]
		t.next = t.next[:len(t.next)-1]
		switch v.Kind() {
		case reflect.Pointer:
			t.visit(v.Elem())
		case reflect.Slice:
			t.visitElements(v.Slice(0, v.Cap()))
		case reflect.Chan:
			if buffer := channelBuffer(v); buffer.IsValid() {
				t.visitElements(buffer)
			}
		case reflect.Map:
			t.visitMap(v)
		}
	}
	return !t.skipped, nil
}

// visitElements visits the elements of a slice that has some.
func (t *Retyper) visitElements(v reflect.Value) {
	if elem := v.Type().Elem(); elem.Kind() == reflect.Interface && v.Index(0).CanSet() {
		hasTable := elem.NumMethod() > 0
		elements := unsafe.Slice((*[2]unsafe.Pointer)(v.UnsafePointer()), v.Len())
		for i := range elements {
			t.visitInterface(&elements[i], hasTable)
		}
		return
	}
	for i := range v.Len() {
		t.visit(v.Index(i))
	}
}

// visit replaces types in the addressable v, and keeps what v refers to for Visit.
func (t *Retyper) visit(v reflect.Value) {
	if !t.holds(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.CanSet() {
			t.visitInterface((*[2]unsafe.Pointer)(v.Addr().UnsafePointer()), v.NumMethod() > 0)
		}
	case reflect.Pointer:
		if !v.IsNil() && t.first(v, 0) {
			t.next = append(t.next, v)
		}
	case reflect.Slice:
		if v.Cap() > 0 && t.first(v, v.Cap()) { // an append or a slice expression may use the elements after the length
			t.next = append(t.next, v)
		}
	case reflect.Chan:
		if v.Cap() > 0 && t.first(v, 0) {
			t.next = append(t.next, v)
		}
	case reflect.Func:
		p := *(*unsafe.Pointer)(v.Addr().UnsafePointer())
		if captured := t.r.config.Captured; p != nil && captured != nil && t.firstAt(reachable{uintptr(p), v.Type(), 0}) {
			t.next = append(t.next, captured(p)...)
		}
	case reflect.Array:
		for i := range v.Len() {
			t.visit(v.Index(i))
		}
	case reflect.Struct:
		if fields, ok := carries(v.Type()); ok {
			t.visitCarrier(v, fields)
			return
		}
		for i := range v.NumField() {
			t.visit(v.Field(i))
		}
	case reflect.Map:
		switch {
		case v.IsNil() || !t.first(v, 0):
		case t.maps:
			t.next = append(t.next, v)
		default:
			t.skipped = true
		}
	}
}

// holds reports whether a value of the type may refer to interface values.
func (t *Retyper) holds(typ reflect.Type) bool {
	known, ok := t.holding[typ]
	if !ok {
		known = t.r.holds(typ, true)
		t.holding[typ] = known
	}
	return known
}

// channelBuffer returns the buffer of a channel that has one, as a slice of the length of its capacity, whose unused elements are zero. It is
// invalid if channels of this Go release have another layout.
func channelBuffer(v reflect.Value) reflect.Value {
	channel := (*struct {
		length, capacity uint
		buffer           unsafe.Pointer
	})(v.UnsafePointer())
	if channel.capacity != uint(v.Cap()) {
		return reflect.Value{}
	}
	header := struct {
		elements         unsafe.Pointer
		length, capacity int
	}{channel.buffer, v.Cap(), v.Cap()}
	return reflect.NewAt(reflect.SliceOf(v.Type().Elem()), unsafe.Pointer(&header)).Elem()
}

// visitInterface replaces the type in the words of an interface. hasTable says whether the first one is a method table.
func (t *Retyper) visitInterface(words *[2]unsafe.Pointer, hasTable bool) {
	for {
		typ := atomic.LoadPointer(&words[0])
		if typ == nil || t.replace(words, [2]unsafe.Pointer{typ, atomic.LoadPointer(&words[1])}, hasTable) {
			return
		}
	}
}

// replace replaces the type in the words of an interface, in which it has read old. It returns false if another goroutine has stored another
// value since, which stays. If that has the old type it gets the new one all the same, with the same memory.
func (t *Retyper) replace(words *[2]unsafe.Pointer, old [2]unsafe.Pointer, hasTable bool) bool {
	if old[0] != t.last {
		t.lastIs, t.last = t.held(old[0], hasTable), old[0]
	}
	now := t.lastIs
	return swap(&words[0], old[0], now.word) && (now.raw == nil || swap(&words[1], old[1], t.visitData(now.raw, old[1])))
}

// held returns what replaces the type of interface values with this first word.
func (t *Retyper) held(word unsafe.Pointer, hasTable bool) heldType {
	if known, ok := t.words[word]; ok {
		return known
	}
	h, typ := heldType{word: word}, word
	if hasTable {
		in, held := named.TypesOf(word)
		typ = typeWord(held)
		if now := typeOfWord(t.r.typeNow(typ)); now != held && (now.Implements(in) || !held.Implements(in)) { // otherwise the value keeps the method that now has lost
			h.word = named.Table(in, now)
		}
	} else {
		h.word = t.r.typeNow(typ)
	}
	if m := t.r.madeAs(typ); m != nil {
		h.raw = m.raw
	} else if of := typeOfWord(typ); of.PkgPath() == "" || of.Kind() == reflect.Func {
		h.raw = typ
	}
	if h.raw != nil && !t.holds(typeOfWord(h.raw)) {
		h.raw = nil
	}
	t.words[word] = h
	return h
}

// swap replaces a word of an interface. It changes nothing and returns false if it is not old any more.
func swap(word *unsafe.Pointer, old, next unsafe.Pointer) bool {
	if old == next {
		return atomic.LoadPointer(word) == old // the word may be in memory that is only read
	}
	return atomic.CompareAndSwapPointer(word, old, next)
}

// typeNow returns the type word that values with this one have now.
func (r *representations) typeNow(word unsafe.Pointer) unsafe.Pointer {
	m := r.madeAs(word)
	if m == nil {
		return word
	}
	var x any
	interfaceWords(&x)[0] = m.raw // no value: box only looks at the type
	x = m.t.box(x)
	return interfaceWords(&x)[0]
}

// visitData visits what the value in an interface with this raw type and this data refers to, and returns the data. It is a copy if the value
// itself contains interface values whose types change: the memory of a value in an interface must not change.
func (t *Retyper) visitData(typ, data unsafe.Pointer) unsafe.Pointer {
	var x any
	*interfaceWords(&x) = [2]unsafe.Pointer{typ, data}
	v := reflect.ValueOf(x)
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	t.visit(c)
	if t.r.sameTypes(c, v) {
		return data
	}
	x = c.Interface()
	return interfaceWords(&x)[1]
}

func (t *Retyper) visitMap(m reflect.Value) {
	type entry struct{ old, key, value reflect.Value }
	var changed []entry
	key, value := t.newCopies(m.Type().Key()), t.newCopies(m.Type().Elem())
	for i := m.MapRange(); i.Next(); {
		key.old.SetIterKey(i)
		value.old.SetIterValue(i)
		newKey, newValue := t.changes(&key), t.changes(&value)
		if newKey || newValue {
			e := entry{key: key.take(newKey), value: value.take(newValue)}
			if newKey {
				e.old = key.old
				key.old = reflect.New(key.old.Type()).Elem()
			}
			changed = append(changed, e)
		}
	}
	for _, e := range changed {
		if e.old.IsValid() {
			m.SetMapIndex(e.old, reflect.Value{})
			if m.MapIndex(e.key).IsValid() {
				continue // stored after the type got its method, when the old entry was not found
			}
		}
		m.SetMapIndex(e.key, e.value)
	}
}

// twoCopies are copies of a key or value of a map, before and after a visit. They are used for many.
type twoCopies struct {
	old, now reflect.Value
	holds    bool // that a visit can change it
}

func (t *Retyper) newCopies(typ reflect.Type) twoCopies {
	return twoCopies{reflect.New(typ).Elem(), reflect.New(typ).Elem(), t.holds(typ)}
}

// changes visits a copy of c.old and reports whether that has changed it.
func (t *Retyper) changes(c *twoCopies) bool {
	if !c.holds {
		return false
	}
	c.now.Set(c.old)
	t.visit(c.now)
	return !t.r.sameTypes(c.now, c.old)
}

// take returns the copy after the visit, if it has changed, or else the one before. The next visit does not write to it.
func (c *twoCopies) take(changed bool) reflect.Value {
	kept := c.now
	if !changed {
		kept.Set(c.old)
	}
	c.now = reflect.New(kept.Type()).Elem()
	return kept
}

// heldNow returns x with its type now, and whether that differs.
func (t *Retyper) heldNow(x any) (any, bool) {
	old := *interfaceWords(&x)
	t.visitInterface(interfaceWords(&x), false)
	return x, *interfaceWords(&x) != old
}

func (t *Retyper) first(v reflect.Value, length int) bool {
	return t.firstAt(reachable{v.Pointer(), v.Type(), length})
}

func (t *Retyper) firstAt(key reachable) bool {
	if t.seen[key] {
		return false
	}
	t.seen[key] = true
	return true
}

// sameTypes reports whether the interface values in the structs and arrays a and b, copies of each other, have the same types.
func (r *representations) sameTypes(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Interface:
		if a.IsNil() || a.CanAddr() && b.CanAddr() && *(*[2]unsafe.Pointer)(a.Addr().UnsafePointer()) == *(*[2]unsafe.Pointer)(b.Addr().UnsafePointer()) {
			return true
		}
		a, b = a.Elem(), b.Elem()
		if a.Type() != b.Type() {
			return false
		}
		x := r.unboxValue(a)
		y := r.unboxValue(b)
		return r.sameTypes(x, y)
	case reflect.Struct:
		if _, ok := carries(a.Type()); ok {
			return true
		}
		for i := range a.NumField() {
			if r.holds(a.Field(i).Type(), true) && !r.sameTypes(a.Field(i), b.Field(i)) {
				return false
			}
		}
	case reflect.Array:
		for i := range a.Len() {
			if !r.sameTypes(a.Index(i), b.Index(i)) {
				return false
			}
		}
	}
	return true
}

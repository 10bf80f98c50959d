package nn

import (
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
)

// walk finds the parts of a module. It goes through structs (with unexported fields), pointers,
// interfaces, slices, arrays and maps in the order of declaration (map keys are sorted). It
// calls visit once for every tensor and every other value on the way. path is the field names
// from the root; it is valid only during the call.
func walk(root any, visit func(path []string, v any)) {
	seen := seenMaps.Get().(map[visited]bool)
	defer func() {
		clear(seen)
		seenMaps.Put(seen)
	}()
	w := walker{visit: visit, seen: seen}
	w.value(make([]string, 0, 16), reflect.ValueOf(root)) // with room for the names of all parts
}

// seenMaps has empty maps that have grown to the size of a model: each step of a training walks through its model twice.
var seenMaps = sync.Pool{New: func() any { return map[visited]bool{} }}

type walker struct {
	visit func(path []string, v any)
	null  func(path []string) // called for each module that is nil; nil for none
	// slot is called for each value before its parts, settable if it is in a field, a slice or a chain, and only for what can
	// be reached by exported fields; nil for none.
	slot func(path []string, v reflect.Value)
	// every makes the walk visit a value under each of its paths, instead of only under the first one.
	every bool
	seen  map[visited]bool
}

type visited struct {
	at     unsafe.Pointer
	typ    reflect.Type
	length int // of a slice
}

// sequence is implemented by the containers of this package, whose parts are named by their
// index.
type sequence interface{ parts() []Module }

var tensorType = reflect.TypeFor[*tensor.Tensor]()

// value visits v and its parts.
func (w *walker) value(path []string, v reflect.Value) {
	if !v.IsValid() || !mayHold(v.Type()) || v.Type() == reflect.TypeFor[slotTensors]() {
		return
	}
	if w.slot != nil {
		w.slot(path, v)
	}
	if k := v.Kind(); w.null != nil && (k == reflect.Interface || k == reflect.Pointer) && v.IsNil() && v.Type().Implements(reflect.TypeFor[Module]()) {
		w.null(path)
	}
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() && partOfModel(v.Elem()) {
			w.value(path, v.Elem())
		}
		return
	case reflect.Pointer:
		if v.IsNil() || !w.enter(v, 0) {
			return
		}
		defer w.leave(v, 0)
	}
	if v.CanInterface() {
		x := v.Interface()
		w.visit(path, x)
		if s, ok := x.(sequence); ok {
			parts := s.parts()
			for i, part := range parts {
				at := append(path, strconv.Itoa(i))
				if w.slot != nil {
					w.slot(at, reflect.ValueOf(parts).Index(i))
				}
				w.value(at, reflect.ValueOf(part))
			}
			return
		}
		if v.Type() == tensorType {
			return
		}
		if l, ok := x.(lazy); ok {
			for _, s := range l.slots() {
				if s.listed {
					w.value(append(path, s.name), reflect.ValueOf(*s.at))
				}
			}
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		w.value(path, v.Elem())
	case reflect.Struct:
		w.fields(path, v)
	case reflect.Slice:
		if v.Len() == 0 || !w.enter(v, v.Len()) {
			return
		}
		defer w.leave(v, v.Len())
		w.elements(path, v)
	case reflect.Array:
		w.elements(path, v)
	case reflect.Map:
		if v.IsNil() || !w.enter(v, 0) {
			return
		}
		defer w.leave(v, 0)
		keys := v.MapKeys()
		names := map[string]reflect.Value{}
		var order []string
		for _, k := range keys {
			name := fmt.Sprint(k)
			names[name] = k
			order = append(order, name)
		}
		slices.Sort(order)
		for _, name := range order {
			w.value(append(path, name), v.MapIndex(names[name]))
		}
	}
}

func (w *walker) elements(path []string, v reflect.Value) {
	for i := range v.Len() {
		w.value(append(path, strconv.Itoa(i)), v.Index(i))
	}
}

func (w *walker) fields(path []string, v reflect.Value) {
	if !v.CanAddr() {
		// A copy is addressable, so that its unexported fields can be read.
		c := reflect.New(v.Type()).Elem()
		if !v.CanInterface() {
			return
		}
		c.Set(v)
		v = c
	}
	for _, f := range fieldsOf(v.Type()) {
		field := v.Field(f.index)
		if !f.exported && w.slot != nil {
			continue
		}
		if !f.exported {
			// Most structs keep their modules in unexported fields, which are only read here.
			field = reflect.NewAt(f.typ, field.Addr().UnsafePointer()).Elem()
		}
		if f.name == "" {
			w.value(path, field)
			continue
		}
		w.value(append(path, f.name), field)
	}
}

// structField is a field of a struct that may lead to a tensor.
type structField struct {
	index    int
	typ      reflect.Type
	exported bool
	name     string // in the path; "" for one that adds none
}

// structFields caches the results of fieldsOf: each step of a training walks through its model.
var structFields sync.Map // reflect.Type to []structField

func fieldsOf(t reflect.Type) []structField {
	if known, ok := structFields.Load(t); ok {
		return known.([]structField)
	}
	var fields []structField
	for i := range t.NumField() {
		f := t.Field(i)
		if !mayHold(f.Type) {
			continue
		}
		name := fieldName(t, f.Name)
		if other, ok := f.Tag.Lookup(nameTag); ok {
			name = other
		} else if f.Anonymous {
			name = ""
		}
		fields = append(fields, structField{i, f.Type, f.IsExported(), name})
	}
	structFields.Store(t, fields)
	return fields
}

// nameTag is the key of a struct tag with the name of a field in the path of its parameters.
const nameTag = "nn"

// enter reports whether a pointer is visited for the first time, which ends cycles and counts
// shared parameters once.
func (w *walker) enter(v reflect.Value, length int) bool {
	key := visited{v.UnsafePointer(), v.Type(), length}
	if w.seen[key] {
		return false
	}
	w.seen[key] = true
	return true
}

// leave ends a visit of a pointer. With every, only what is still being visited counts as seen.
func (w *walker) leave(v reflect.Value, length int) {
	if w.every {
		delete(w.seen, visited{v.UnsafePointer(), v.Type(), length})
	}
}

// partOfModel reports whether walk follows an interface to a value: a module, a tensor, or a
// container of an unnamed type. It does not follow a context or a logger in a module, since
// these lead to unrelated data.
func partOfModel(v reflect.Value) bool {
	t := v.Type()
	switch {
	case t == tensorType, t.Implements(reflect.TypeFor[Module]()):
		return true
	case t.Kind() == reflect.Pointer:
		t = t.Elem()
	}
	return t.Name() == ""
}

// fieldName returns the name of a field in the path of a parameter. Fields of this package's
// layers are in snake case, as in the files of other frameworks: in_proj_weight.
func fieldName(t reflect.Type, name string) string {
	if t.PkgPath() == reflect.TypeFor[walker]().PkgPath() {
		return snakeCase(name)
	}
	return name
}

// snakeCase converts runningMean to running_mean.
func snakeCase(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// holds caches the results of mayHold.
var holds sync.Map // reflect.Type to bool

// mayHold reports whether a value of the type can lead to a tensor, so that walk does not
// iterate over large slices of numbers.
func mayHold(t reflect.Type) bool {
	if known, ok := holds.Load(t); ok {
		return known.(bool)
	}
	found := leadsToTensor(t, map[reflect.Type]bool{})
	holds.Store(t, found)
	return found
}

func leadsToTensor(t reflect.Type, open map[reflect.Type]bool) bool {
	if t == tensorType || t.Implements(reflect.TypeFor[modeSetter]()) {
		return true
	}
	if open[t] {
		return false // a recursive type holds a tensor elsewhere or not at all
	}
	open[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return leadsToTensor(t.Elem(), open)
	case reflect.Struct:
		for i := range t.NumField() {
			if leadsToTensor(t.Field(i).Type, open) {
				return true
			}
		}
	}
	return false
}

// nilModules implements [layer.NilModules].
func nilModules(model any) (paths []string) {
	w := walker{visit: func([]string, any) {}, seen: map[visited]bool{}}
	w.null = func(path []string) { paths = append(paths, strings.Join(path, ".")) }
	w.value(nil, reflect.ValueOf(model))
	return paths
}

// Replace replaces the module with this name, as [NamedModules] has it, by another one. A module that a
// model uses twice also has the name of its second use, and Replace changes only the use with this name. A
// module in a struct must be in an exported field that can hold the other one. If there is no such module,
// Replace returns a *tensor.StateError and changes nothing.
func Replace(model any, name string, by Module) error {
	wrong := func(hint string) error {
		return &tensor.StateError{Op: "Replace", Hint: fmt.Sprintf("%q %s", name, hint)}
	}
	if by == nil {
		return wrong("cannot become nil")
	}
	var at reflect.Value
	w := walker{visit: func([]string, any) {}, every: true, seen: map[visited]bool{}}
	w.slot = func(path []string, v reflect.Value) {
		if !at.IsValid() && len(path) > 0 && strings.Join(path, ".") == name {
			at = v
		}
	}
	w.value(nil, reflect.ValueOf(model))
	if !at.IsValid() {
		return wrong("is not in the model, or is in a field that is not exported")
	}
	_, isModule := reflect.TypeAssert[Module](at)
	value := reflect.ValueOf(by)
	switch {
	case !isModule:
		return wrong("is no module")
	case !at.CanSet() || !value.Type().AssignableTo(at.Type()):
		return wrong(fmt.Sprintf("is in a field of type %v, which cannot hold %s", at.Type(), describe(by)))
	}
	at.Set(value)
	return nil
}

// ReplaceHead replaces the last [Dense] layer of a model, in the order of declaration, by another
// module, usually a Dense with the number of classes of another data set, and returns its name. The
// other parameters stay as they are. What the model was trained with is forgotten, so that accel.Fit
// accepts a data set with other classes. Its errors are those of [Replace]; a last layer that the model
// uses twice is one too.
func ReplaceHead(model any, head Module) (name string, err error) {
	var last *DenseLayer
	w := walker{every: true, seen: map[visited]bool{}}
	w.visit = func(path []string, v any) {
		if d, ok := v.(*DenseLayer); ok {
			name, last = strings.Join(path, "."), d
		}
	}
	w.value(nil, reflect.ValueOf(model))
	if last == nil {
		return "", &tensor.StateError{Op: "ReplaceHead", Hint: "the model has no Dense layer"}
	}
	if err := Replace(model, name, head); err != nil {
		return name, err
	}
	for _, m := range NamedModules(model) {
		if m.Module == Module(last) && head != Module(last) {
			hint := fmt.Sprintf("the last Dense layer is used as %q and as %q: change the uses one by one with Replace", m.Name, name)
			return name, errors.Join(&tensor.StateError{Op: "ReplaceHead", Hint: hint}, Replace(model, name, last))
		}
	}
	for _, p := range State(model) {
		tensors.SetMetadata(p.Tensor, nil) // it names the classes of the old layer
	}
	return name, nil
}

// Frozen is the set of parameters that a call of [Freeze] has frozen.
type Frozen struct {
	tensors []*Tensor
	lazy    []lazy
	norms   []*batchNorm
}

// FreezeStatistics makes [Freeze] change each [BatchNorm], so that it normalizes with its running means also in training mode, and
// leaves them as they are. A small data set for fine-tuning often cannot estimate better ones.
func FreezeStatistics() Option {
	return Option{option.New(func(o *options) { o.statistics = true }, "FreezeStatistics")}
}

// Freeze excludes the parameters of a model, or of a part of it, from training until [Frozen.Thaw]:
// they get no gradient, optimizers do not update them, and [Parameters] does not return them. Layers
// that have not seen an input yet will start frozen. The running means of BatchNorm are still updated
// in training mode, unless [FreezeStatistics] is given.
func Freeze(model any, given ...Option) *Frozen {
	statistics := options{}.read("Freeze", given, "FreezeStatistics").statistics
	f := &Frozen{}
	walk(model, func(_ []string, v any) {
		if n, ok := v.(*batchNorm); ok && statistics && !n.fixed {
			n.fixed = true
			f.norms = append(f.norms, n)
		}
		switch v := v.(type) {
		case *Tensor:
			if v.RequiresGrad() {
				v.SetRequiresGrad(false)
				f.tensors = append(f.tensors, v)
			}
		case lazy:
			if !v.isFrozen() {
				v.freeze(true)
				f.lazy = append(f.lazy, v)
			}
		}
	})
	return f
}

// Thaw makes what the call of [Freeze] has frozen trainable again.
func (f *Frozen) Thaw() {
	for _, t := range f.tensors {
		t.SetRequiresGrad(true)
	}
	for _, l := range f.lazy {
		l.freeze(false)
		for _, s := range l.slots() {
			if *s.at != nil && !s.buffer {
				(*s.at).SetRequiresGrad(true)
			}
		}
	}
	for _, n := range f.norms {
		n.fixed = false
	}
}

// GradualUnfreezing trains the last part of a model first, and thaws one more part after every few
// updates (Howard and Ruder, 2018). [UnfreezeGradually] returns it. In accel.Fit:
//
//	thawing, err := nn.UnfreezeGradually(model, 100, "layer3.*", "layer4.*", "fc.*")
//	run, err := accel.Fit(ctx, model, train, accel.AfterStep(thawing.AfterStep))
type GradualUnfreezing struct {
	every int
	parts [][]*Tensor // frozen, from the first to the last to be thawed
}

// UnfreezeGradually freezes all parameters of a model that match none of the patterns, permanently, and
// those that match all but the last pattern until [GradualUnfreezing.AfterStep] thaws them, the part
// of the last pattern but one after the given number of updates, the one before after twice as many,
// and so on. Patterns are those of [path.Match] for names of parameters, where * stands for any
// characters; a parameter belongs to the last pattern that matches. The model must have its
// parameters. A pattern that matches none is an error, and then nothing is frozen.
func UnfreezeGradually(model any, every int, patterns ...string) (*GradualUnfreezing, error) {
	if every < 1 || len(patterns) == 0 {
		return nil, &tensor.StateError{Op: "UnfreezeGradually", Hint: fmt.Sprintf("%d updates and %d patterns must both be at least 1", every, len(patterns))}
	}
	parts := make([][]*Tensor, len(patterns))
	var never []*Tensor
	for _, p := range NamedParameters(model) {
		at := -1
		for i, pattern := range patterns {
			matched, err := path.Match(pattern, p.Name)
			if err != nil {
				return nil, fmt.Errorf("nn: UnfreezeGradually: %q: %w", pattern, err)
			}
			if matched {
				at = i
			}
		}
		if at < 0 {
			never = append(never, p.Tensor)
		} else {
			parts[at] = append(parts[at], p.Tensor)
		}
	}
	for i, part := range parts {
		if len(part) == 0 {
			return nil, &tensor.StateError{Op: "UnfreezeGradually", Hint: fmt.Sprintf("%q matches no parameter that a later pattern does not match: run an input through the model first, and see nn.NamedParameters for the names", patterns[i])}
		}
	}
	u := &GradualUnfreezing{every: every}
	for i := len(parts) - 2; i >= 0; i-- {
		u.parts = append(u.parts, parts[i])
	}
	for _, part := range append(u.parts, never) {
		for _, p := range part {
			p.SetRequiresGrad(false)
		}
	}
	return u, nil
}

// AfterStep thaws what is due after this number of updates. It is meant for the option
// accel.AfterStep.
func (u *GradualUnfreezing) AfterStep(updates int) error {
	for i, part := range u.parts {
		if updates >= (i+1)*u.every {
			for _, p := range part {
				p.SetRequiresGrad(true)
			}
		}
	}
	return nil
}

// String says what is thawed when.
func (u *GradualUnfreezing) String() string {
	return fmt.Sprintf("GradualUnfreezing of %d frozen parts, one every %d updates", len(u.parts), u.every)
}

package rt

import "reflect"

// Methods is the key, among the packages of a session, of the table of what code of cells calls instead of methods of compiled
// packages. The keys of that table are full names as in go/types, such as "(*sync.Mutex).Lock", and the first parameter of each function
// is the receiver. A session replaces more methods than Registry.Methods.
const Methods = "quern/methods"

// Methods returns such a table: waits that an interrupt ends, allocations that check the memory, and methods that know the methods of
// interfaces of cells.
func (r *Registry) Methods() map[string]reflect.Value {
	table := map[string]any{
		"(*sync.Mutex).Lock":     r.Lock,
		"(*sync.RWMutex).Lock":   r.LockRW,
		"(*sync.RWMutex).RLock":  r.RLock,
		"(*sync.WaitGroup).Wait": r.WaitGroupWait,

		"(*strings.Builder).Grow": growBuilder,
		"(*bytes.Buffer).Grow":    growBuffer,

		"(*encoding/json.Decoder).Decode": r.JSONDecode,
		"(*encoding/gob.Decoder).Decode":  r.DecodeGob,

		"(reflect.Type).Implements":    r.TypeImplements,
		"(reflect.Type).AssignableTo":  r.TypeAssignableTo,
		"(reflect.Type).ConvertibleTo": r.TypeConvertibleTo,
		"(reflect.Type).NumMethod":     r.TypeNumMethod,
		"(reflect.Type).Method":        r.TypeMethod,
		"(reflect.Type).MethodByName":  r.TypeMethodByName,
		"(reflect.Type).Methods":       r.TypeMethods,

		"(reflect.Value).Set":          r.ValueSet,
		"(reflect.Value).SetMapIndex":  r.ValueSetMapIndex,
		"(reflect.Value).Send":         r.ValueSend,
		"(reflect.Value).TrySend":      r.ValueTrySend,
		"(reflect.Value).Convert":      r.ValueConvert,
		"(reflect.Value).CanConvert":   r.ValueCanConvert,
		"(reflect.Value).NumMethod":    r.ValueNumMethod,
		"(reflect.Value).Method":       r.ValueMethod,
		"(reflect.Value).MethodByName": r.ValueMethodByName,
		"(reflect.Value).Methods":      r.ValueMethods,
		"(reflect.Value).Pointer":      r.ValuePointer,
		"(reflect.Value).Call":         r.ValueCall,
		"(reflect.Value).CallSlice":    r.ValueCallSlice,
	}
	methods := make(map[string]reflect.Value, len(table))
	for name, f := range table {
		methods[name] = reflect.ValueOf(f)
	}
	return methods
}

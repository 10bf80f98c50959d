// Package named makes named Go types at run time, with fields, tags and methods as a declaration in a program would give
// them. Package reflect cannot do that: its types have no names and no methods.
//
//	var types named.Owner
//	t, err := types.New(named.Declaration{Name: "main.Celsius", Path: "main", Memory: reflect.TypeFor[float64](), Methods: []named.MethodName{{Name: "String"}}})
//	...
//	err = t.Complete(named.Parts{}, []named.Method{{Name: "String", Type: reflect.TypeFor[func() string](),
//		Call: func(receiver reflect.Value, _ []reflect.Value) []reflect.Value { ... }}})
//
// Compiled packages cannot tell such a type from a compiled one. It has a descriptor as the compiler writes it, assertions
// find its methods, and package reflect lists them.
//
// # Making types
//
// [Owner.New] makes the descriptors of a type and of the pointer to it. They can be components of other types at once, so
// types may mention themselves and each other. Declaration.Memory is an unnamed type with the same memory layout, in which
// any type stands for another of the same size behind pointers. [Type.Complete] then gives the type its final components and
// its methods. No value may exist before.
//
//   - abi.go: the descriptors of package internal/abi, as Go types, so that the garbage collector finds the pointers
//     in them. map_go126.go and map_go127.go have what differs between Go releases.
//   - type.go: New and Complete.
//   - method.go: the methods of a type and their code.
//   - stub.go: the table of stubs, and which owner has which.
//   - check.go: makes a type of each kind once and checks that the runtime sees it as intended. New fails with an
//     [UnsupportedError] if a Go release has changed what this package relies on.
//
// # Code of methods
//
// A descriptor refers to the code of a method by address, and the code gets nothing but the receiver and the arguments.
// Writing code at run time needs memory that is writable and executable, which many systems forbid. So the program
// contains a table of stubs in assembly. Stub i loads the function value in slots[i] and jumps to its code, as a call of
// a function value does. A function value with any signature can be behind a stub, and replacing the code of a method is
// one store.
//
// A method with a value receiver has two stubs. The code that an interface calls gets the data word of the interface value,
// which is the address of the receiver for most types. The code in the Func of a reflect.Method gets the receiver itself.
//
// # Invariants
//
//   - Descriptors are never freed, because the runtime keeps references to them in tables. Their stubs are given back
//     when their owner closes. A method that is called later panics.
//   - Size, alignment and the pointers in the memory of a type are copied from Declaration.Memory, and Complete rejects
//     components that do not fit.
//   - A method is sorted among the others as the compiler sorts them: exported ones first, then by name.
//   - An unexported method matches that of an interface only if both have the same package path.
//
// # Concurrency
//
// An Owner and its types may be used by several goroutines, but a type must not be used before Complete has returned.
package named

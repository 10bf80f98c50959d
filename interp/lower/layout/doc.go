// Package layout makes the reflect types of types that mention themselves.
//
// yaegi makes such a type with a placeholder, which it replaces when the
// type is complete. That fails for most types that mention each other, such as
//
//	type Parser struct { lex *Lexer }
//	type Lexer struct { p *Parser }
//
// for a struct that mentions itself in the value of a map or in a literal struct,
// and for all that do so without a struct:
//
//	type Tree []Tree
//	type Visitor func(n int) (Visitor, error)
//
// Here the same is done for all types of a cycle at once: [Builder.Type]
// makes every type of the cycle with placeholders of the right size and then
// gives each part its real type. yaegi gets the results as compiled types.
//
// # Limitations
//
// The type of a part is replaced through unsafe, in memory that package reflect
// has allocated; the layout of types in this Go release is pinned by tests.
// The types made here have no names, their fields are exported (field a is Xa),
// and none is ever freed, as with reflect.StructOf.
//
// # Concurrency
//
// A Builder is not safe for concurrent use.
package layout

// Package layout creates the reflect types of types that mention themselves.
//
// yaegi creates such a type with a placeholder, which it replaces when the
// type is complete. That fails for most types that mention each other, such as
//
//	type Parser struct { lex *Lexer }
//	type Lexer struct { p *Parser }
//
// and for a struct that mentions itself in the element type of a map or in a struct literal type.
// It also fails for all types that mention themselves without a struct:
//
//	type Tree []Tree
//	type Visitor func(n int) (Visitor, error)
//
// This package does the same for all types of a cycle at once: [Builder.Type]
// creates every type of the cycle with placeholders of the right size, and then
// gives each component its final type. For yaegi, the results are compiled types.
//
// # Limitations
//
// The type of a component is replaced in memory that package reflect has allocated; see package named.
// The created types have no names, their fields are exported (field a is Xa),
// and they are never freed, as with reflect.StructOf. With Builder.New they have the names, fields
// and methods of the declaration.
//
// # Concurrency
//
// A Builder is not safe for concurrent use.
package layout

// Package layout creates the reflect types of types that mention themselves.
//
// Package reflect cannot create a type before the types that it mentions, as for
//
//	type Parser struct { lex *Lexer }
//	type Lexer struct { p *Parser }
//
// and for a struct that mentions itself in the element type of a map or in a struct literal type.
// The same holds for types that mention themselves without a struct:
//
//	type Tree []Tree
//	type Visitor func(n int) (Visitor, error)
//
// [Builder.Type] creates every type of the cycle with placeholders of the right size, and then
// gives each component its final type.
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

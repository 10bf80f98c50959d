package inspect

import (
	"go/scanner"
	"go/token"
)

type lexeme struct {
	tok    token.Token
	offset int
}

// tokensBefore returns the tokens of src that begin before offset.
func tokensBefore(src string, offset int) []lexeme {
	file := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, []byte(src), func(token.Position, string) {}, 0)
	var list []lexeme
	for {
		pos, tok, _ := s.Scan()
		if tok == token.EOF || file.Offset(pos) >= offset {
			return list
		}
		list = append(list, lexeme{tok, file.Offset(pos)})
	}
}

package main

import "fmt"

type lexer struct {
	source string
	bytes  []byte
	offset int
	token  string
}

func (l *lexer) scan() int { l.offset += 2; return l.offset }
func (l *lexer) at() int   { return l.offset }

var g int

func next() int { g += 2; return g }

func main() {
	l := &lexer{source: "abcdefgh", bytes: []byte("abcdefgh"), offset: 2}
	l.token = l.source[l.offset-1 : l.scan()]
	fmt.Println(l.token)
	fmt.Println(l.source[l.offset:l.scan()])
	fmt.Println(string(l.bytes[l.offset-1 : l.scan()]))
	l.offset = 1
	t := l.source[l.offset:l.scan()]
	i := l.offset - 1
	l.offset = 1
	u := l.source[i+l.offset : i+l.scan()]
	fmt.Println(t, u, l.source[l.at():l.scan()])
	g = 1
	fmt.Println(l.source[g:next()], l.source[g-1:next()])
	g = 1
	s := l.bytes[g-1 : next() : next()]
	fmt.Println(string(s), cap(s))
	n := 1
	f := func() int { n += 2; return n }
	fmt.Println(l.source[n:f()])
	n = 1
	v := l.source[n-1 : f()]
	w := l.source[n-1 : 2+f()]
	fmt.Println(v, w)
	arr := [8]int{0, 1, 2, 3, 4, 5, 6, 7}
	n = 1
	fmt.Println(arr[n:f()], n)
}

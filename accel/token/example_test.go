package token_test

import (
	"fmt"
	"log"
	"path/filepath"

	"github.com/quernlab/quern/accel/token"
)

// A tokenizer is the file tokenizer.json of a model.
func ExampleLoad() {
	t, err := token.Load(filepath.Join("testdata", "bpe.json"))
	if err != nil {
		log.Fatal(err)
	}
	ids := t.EncodePlain("Hello there")
	text, err := t.Decode(ids)
	fmt.Printf("%q %v %v\n", text, len(ids) > 1, err)
	// Output: "Hello there" true <nil>
}

// A token has a number, and a number a token.
func ExampleTokenizer_ID() {
	t, err := token.Load(filepath.Join("testdata", "bpe.json"))
	if err != nil {
		log.Fatal(err)
	}
	id, ok := t.ID("</s>")
	_, unknown := t.ID("no such token")
	fmt.Println(id, ok, t.Token(id), unknown)
	// Output: 1 true </s> false
}

// Package token converts text to tokens and back as Hugging Face's tokenizers do, from their file
// tokenizer.json.
//
//	tokenizer, err := token.Load("path/of/gpt2") // a folder, or a tokenizer.json
//	ids := tokenizer.Encode("Hello, world")
//	text, err := tokenizer.Decode(ids)
//
// A tokenizer is a list of steps:
//
//	split.go      splits the text at added tokens, such as [MASK]
//	normalize.go  normalizes the rest: Unicode forms, lower case, BERT's rules, the characters of SentencePiece
//	split.go      splits it into words
//	model.go      splits words into tokens: BPE, WordPiece, Unigram
//	decode.go     is the way back
//
// What a file asks for beyond that is an [*UnsupportedError]; nothing is ignored. Tests compare the
// tokens of multilingual text with those of the Python package. A Tokenizer may be used by several
// goroutines.
package token

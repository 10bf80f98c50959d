package symbols

//go:generate go run ./internal/generate

package magic

var systemShell = []string{"cmd", "/c"}

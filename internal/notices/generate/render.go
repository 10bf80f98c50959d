package main

import (
	"fmt"
	"strings"
)

const noticeHead = `Quern
Copyright 2026 The Quern Authors

Quern is licensed under the Apache License, version 2.0: see LICENSE. The program contains the work of others, with
these licenses. "quern licenses" prints their texts, which are in internal/notices/notices.txt too.

`

// render returns the contents of NOTICE and of notices.txt. A text that several parts have
// is in it once.
func render(root string) (notice, text string, err error) {
	all, err := parts(root)
	if err != nil {
		return "", "", err
	}
	width := 0
	for _, p := range all {
		width = max(width, len(p.name))
	}
	var list strings.Builder
	var texts []string
	owners := map[string][]string{}
	for _, p := range all {
		fmt.Fprintf(&list, "  %-*s  %s\n", width, p.name, p.license)
		for _, t := range p.texts {
			if owners[t] == nil {
				texts = append(texts, t)
			}
			owners[t] = append(owners[t], p.name)
		}
	}
	var b strings.Builder
	b.WriteString("Quern is licensed under the Apache License, version 2.0. The program contains the work of others:\n\n")
	b.WriteString(list.String())
	for _, t := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("-", 80), strings.Join(owners[t], "\n"), t)
	}
	return noticeHead + list.String(), b.String(), nil
}

package kernel

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/quernlab/quern/kernel/wire"
)

// info returns the content of kernel_info_reply.
func info(version string) wire.KernelInfo {
	language := strings.TrimPrefix(runtime.Version(), "go")
	return wire.KernelInfo{
		Implementation:        "quern",
		ImplementationVersion: version,
		LanguageInfo:          wire.GoLanguage(language),
		SupportedFeatures:     []string{"kernel subshells"},
		Banner:                fmt.Sprintf("Quern %s, Go %s on %s/%s\nVariables persist between cells, and missing imports are added.", version, language, runtime.GOOS, runtime.GOARCH),
		HelpLinks: []wire.HelpLink{
			{Text: "Quern", URL: "https://github.com/quernlab/quern"},
			{Text: "Go standard library", URL: "https://pkg.go.dev/std"},
			{Text: "Effective Go", URL: "https://go.dev/doc/effective_go"},
			{Text: "Go specification", URL: "https://go.dev/ref/spec"},
		},
	}
}

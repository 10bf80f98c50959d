//go:build !race

package tensor

import "testing"

func TestRoundedParametersOnCUDA(t *testing.T) {
	onCUDA(t, func() { testRounded(t) })
}

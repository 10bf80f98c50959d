//go:build !race

package tensor

import "testing"

func TestLengthsAreCheckedOnCUDA(t *testing.T) { onCUDA(t, func() { checkLengthErrors(t) }) }

func TestPowAtZeroOnCUDA(t *testing.T) { onCUDA(t, func() { comparePowAtZero(t) }) }

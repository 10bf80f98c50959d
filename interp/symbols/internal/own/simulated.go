//go:build !js

package own

// Cells can call accel.SetDevice("simulated") without an import. The package's own table has only constants.
import _ "github.com/quernlab/quern/accel/simulated"

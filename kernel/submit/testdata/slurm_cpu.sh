#!/bin/bash
#SBATCH --job-name=nb
#SBATCH --ntasks=8
#SBATCH --partition=short
#SBATCH --output="/shared/50 %%/nb.log"
QUERN_PARALLEL_SECRET=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
export QUERN_PARALLEL_SECRET
exec srun --kill-on-bad-exit=1 --output=0 --error=all quern run /shared/nb.ipynb -o '/shared/50 %/it'\''s.ipynb' --param 'name="it'\''s"'

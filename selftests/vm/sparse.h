/* SPDX-License-Identifier: GPL-2.0 */
/* For sparse alone: words of newer kernels' headers that it has yet to learn. */
#define __typeof_unqual__ __typeof__
#define __builtin_strlen(s) (sizeof(s) - 1)

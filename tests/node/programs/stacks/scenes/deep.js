// Ten thousand frames of closures that differ: a worker has a larger stack. SPDX-License-Identifier: MIT
'use strict';
const { park } = require('../park.js');
function dig(n, inner) {
	return n > 0 ? dig(n - 1, () => inner(n)) : inner(0);
}
dig(9900, () => park(true));

// A timer, an emitter, an event target. SPDX-License-Identifier: MIT
'use strict';
const { EventEmitter } = require('events');
const { park } = require('../park.js');

class Station extends EventEmitter {
	arrive(train) {
		return this.emit('train', train, 1, 2);
	}
}
const station = new Station();
station.on('train', function onTrain(train) {
	const target = new EventTarget();
	target.addEventListener('stop', { handleEvent: (event) => park(true) });
	target.dispatchEvent(new Event('stop'));
});
setTimeout(function onTimeout() {
	station.arrive('late');
}, 1);

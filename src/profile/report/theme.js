// theme.js - dark or light: as the system says, until somebody chooses. SPDX-License-Identifier: MIT

const darkQuery = matchMedia('(prefers-color-scheme: dark)');

// Files opened from a disk may have no storage.
const stored = {
	get: () => {
		try {
			return localStorage.getItem('noderay-theme');
		} catch {
			return null;
		}
	},
	set: (value) => {
		try {
			localStorage.setItem('noderay-theme', value);
		} catch {
			// It is as the system says the next time.
		}
	},
};

function applyTheme(report) {
	const theme = stored.get() ?? (darkQuery.matches ? 'dark' : 'light');
	document.documentElement.dataset.theme = theme;
	find('theme').setAttribute('aria-pressed', String(theme === 'dark'));
	if (!report) return;
	report.forgetColors();
	report.filters.drawChips();
	redrawAll(report);
	if (report.viewName === 'table') report.view.show();
}

function toggleTheme(report) {
	stored.set(isDark() ? 'light' : 'dark');
	applyTheme(report);
}

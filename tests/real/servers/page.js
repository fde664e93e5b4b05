// What all servers here answer, made anew for each request.
exports.page = () => ({items: Array.from({length: 20}, (_, id) => ({id, name: 'n' + id}))});

--[[ abandon-sweep: forgets the checkpoint of a sweep that can never be completed; the next one starts at the first page.
  Atomic because: the sweep may have passed to another process, whose checkpoint must stay.
  KEYS 1 sweep · 2 cursors · 3 lease    ARGV 1 token
  RETURN {"abandoned"} · {"fenced", holder or ""}    Cost O(1), and the cursors in the background. ]]
local holder = redis.call('GET', KEYS[3])
if holder ~= ARGV[1] then return { 'fenced', holder or '' } end
redis.call('HDEL', KEYS[1], 'checkpoint')
redis.call('UNLINK', KEYS[2])
return { 'abandoned' }

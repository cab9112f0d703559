--[[ begin-walk: makes the ids that shortcuts and parts of large pages created unconfirmed: the walk that begins now is the first that must show them.
  Atomic because: an id in neither set would not be missed when it is gone.
  KEYS 1 lease · 2 created · 3 unconfirmed · 4 sweep    ARGV 1 token
  RETURN {"committed", 0} · {"fenced", holder or ""}    Cost O(ids). ]]
local holder = redis.call('GET', KEYS[1])
if holder ~= ARGV[1] then return { 'fenced', holder or '' } end
if redis.call('EXISTS', KEYS[2]) == 1 then
  redis.call('SUNIONSTORE', KEYS[3], KEYS[3], KEYS[2])
  redis.call('DEL', KEYS[2])
end
redis.call('HDEL', KEYS[4], 'createdRows')
return { 'committed', 0 }

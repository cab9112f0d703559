--[[ abandon-sweep: drops the checkpoint of a sweep that can never be completed; the next one starts at the first page.
  What the sweep wrote about records stays. Ids that it has seen and the last complete sweep has
  not are kept with the members of the last complete sweep; otherwise their removal would go unnoticed.
  Atomic because: another process may have taken over the sweep, and its checkpoint must stay.
  KEYS 1 sweep · 2 walk · 3 lease · 4 members    ARGV 1 token · 2 field of the unconfirmed ids · 3 their packed keys
  RETURN {"committed", 0} · {"fenced", holder or ""}    Cost O(pages). ]]
local holder = redis.call('GET', KEYS[3])
if holder ~= ARGV[1] then return { 'fenced', holder or '' } end
-- A version byte alone: no ids.
if #ARGV[3] > 1 then redis.call('HSET', KEYS[4], ARGV[2], ARGV[3]) end
redis.call('HDEL', KEYS[1], 'checkpoint')
redis.call('UNLINK', KEYS[2])
return { 'committed', 0 }

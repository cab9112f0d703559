--[[ append-derived: appends the events that a derive function made of one event to the log, once.
  Atomic because: a process killed between the mark and the events would lose them; in the other order it would repeat them.
  KEYS 1 log · 2 mark    ARGV 1 TTL of the mark in ms · 2 … events
  RETURN {"appended" | "before"}    Cost O(events). Never calls TIME. ]]
if not redis.call('SET', KEYS[2], '1', 'NX', 'PX', ARGV[1]) then return { 'before' } end
for i = 2, #ARGV do redis.call('XADD', KEYS[1], '*', 'event', ARGV[i]) end
return { 'appended' }
